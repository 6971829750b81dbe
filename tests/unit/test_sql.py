"""The SQL files, as text."""

import re

import pytest

from leasehold import sql
from leasehold.errors import BY_SQLSTATE, LeaseholdError

FUNCTIONS = [file for file in sql.read_all() if file.name.startswith("functions/")]
#: Sql functions so small that PostgreSQL puts their text into the caller's, which a setting would prevent.
INLINED = {
    "attempts_of",
    "bell",
    "first_id",
    "gate_id",
    "group_id",
    "group_of",
    "is_kind",
    "matches",
    "micros",
    "new_id",
    "new_token",
    "now",
    "ready_at",
    "ready_of",
    "states",
    "whereabouts",
    "whereabouts_at",
}
#: What a session sets keeps its name whatever the schema is called.
SETTINGS = ("tenant", "actor")
ROLES = ("owner", "api", "worker", "operator", "readonly")

functions = pytest.mark.parametrize("file", FUNCTIONS, ids=lambda file: file.name)


def name_of(file: sql.File) -> str:
    return file.name.removeprefix("functions/").removesuffix(".sql")


def without_comments(text: str) -> str:
    return re.sub(r"--.*", "", text)


def test_tables_come_first_in_order_then_functions_then_policies() -> None:
    names = [file.name for file in sql.read_all()]
    folders = [name.partition("/")[0] for name in names]
    assert list(dict.fromkeys(folders)) == ["tables", "functions", "policies"]
    tables = [name for name in names if name.startswith("tables/")]
    assert tables == sorted(tables)
    assert all(re.match(r"tables/\d{4}_\w+\.sql$", name) for name in tables)
    numbers = [name[7:11] for name in tables]
    assert len(numbers) == len(set(numbers))


def test_a_checksum_tells_texts_apart() -> None:
    one, two = (sql.File(name="functions/x.sql", text=text) for text in ("select 1", "select 2"))
    assert one.checksum != two.checksum
    assert one.checksum == sql.File(name="other", text="select 1").checksum


@functions
def test_a_file_holds_the_one_function_it_is_named_after(file: sql.File) -> None:
    made = re.findall(r"create (?:or replace )?function (\S+?)\(", without_comments(file.text))
    assert made == [f"leasehold.{name_of(file)}"]
    assert "create or replace function" in file.text
    assert file.text.startswith("-- "), "it says what it is for"


@functions
def test_a_file_ends_with_its_own_revoke_from_the_public(file: sql.File) -> None:
    body = without_comments(file.text)
    after = body[body.rindex("$$;") :]
    statements = [" ".join(part.split()) for part in after.removeprefix("$$;").split(";") if part.strip()]
    assert re.fullmatch(rf"revoke all on function leasehold\.{name_of(file)}\(.*\) from public", statements[0]), (
        statements
    )
    for grant in statements[1:]:
        found = re.fullmatch(rf"grant execute on function leasehold\.{name_of(file)}\(.*\) to (.*)", grant)
        assert found, grant
        assert set(found[1].split(", ")) <= {f"leasehold_{role}" for role in ROLES[1:]}


@functions
def test_a_function_pins_its_search_path_unless_it_is_inlined(file: sql.File) -> None:
    head = file.text[: file.text.index("$$")]
    if name_of(file) in INLINED:
        assert "language sql" in head
        assert "security definer" not in head
        assert "\nset " not in head
        assert "grant execute" not in file.text or name_of(file) == "now", "only pinned functions call it"
    else:
        assert "set search_path = pg_catalog, pg_temp" in head


@functions
def test_a_function_that_somebody_may_call_runs_as_the_owner(file: sql.File) -> None:
    granted = "grant execute" in file.text
    if "returns trigger" not in file.text:  # those are called by a write, as the owner or as the writer
        assert ("security definer" in file.text) == (granted and name_of(file) not in INLINED)


def test_every_sqlstate_of_ours_becomes_an_error_class() -> None:
    raised = {
        code
        for file in sql.read_all()
        for code in re.findall(r"'(LH\d\d\d)'", without_comments(file.text))
        if f"when sqlstate '{code}'" not in file.text  # caught where it is raised
    }
    assert raised <= set(BY_SQLSTATE)
    assert {"LH400", "LH401", "LH404", "LH410", "LH411"} <= raised
    assert all(issubclass(error, LeaseholdError) for error in BY_SQLSTATE.values())
    assert len(set(BY_SQLSTATE.values())) == len(BY_SQLSTATE)


# -- render ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("select leasehold.now()", "select cell_1.now()"),
        ("create schema leasehold", "create schema cell_1"),
        ("revoke all on schema leasehold from public", "revoke all on schema cell_1 from public"),
        ("to leasehold_api, leasehold_worker", "to cell_1_api, cell_1_worker"),
        ("'leasehold_owner'", "'cell_1_owner'"),
        ("from leasehold.tenant where", "from cell_1.tenant where"),
        ("current_setting('leasehold.tenant', true)", "current_setting('leasehold.tenant', true)"),
        ("(''leasehold.tenant'', true)", "(''leasehold.tenant'', true)"),
        ("'leasehold tenants create x'", "'leasehold tenants create x'"),  # a command
        ("format('leasehold.clock_%s', 1)", "format('cell_1.clock_%s', 1)"),
        ("my_leasehold.x", "my_leasehold.x"),
    ],
)
def test_the_schema_and_its_roles_take_the_name_and_the_setting_keeps_its_own(text: str, rendered: str) -> None:
    assert sql.render(text, "cell_1") == rendered
    assert sql.render(text, "leasehold") == text


@pytest.mark.parametrize(
    "file", [*sql.read_all(), sql.File(name="roles.sql", text=sql.read_roles())], ids=lambda f: f.name
)
def test_no_file_speaks_of_another_schema_once_rendered(file: sql.File) -> None:
    text = without_comments(sql.render(file.text, "cell_1"))
    left = re.findall(r".*\bleasehold\b.*", text)
    for line in left:
        kept = re.sub(rf"'leasehold\.({'|'.join(SETTINGS)})'", "", line)
        assert not re.search(r"\bleasehold(\.|_(owner|api|worker|operator|readonly)\b)", kept), line
    for name in SETTINGS:
        setting = f"'leasehold.{name}'"
        assert file.text.count(setting) == sql.render(file.text, "cell_1").count(setting)
