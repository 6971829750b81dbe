"""The SQL files, as text."""

import ast
import re
from pathlib import Path

import pytest

import leasehold
from leasehold.database import sql_files
from leasehold.errors import BY_SQLSTATE, LeaseholdError
from leasehold.feature import features

FUNCTIONS = [file for file in sql_files.read_all() if file.name.startswith("functions/")]
#: What a session sets keeps its name whatever the schema is called.
SETTINGS = ("tenant", "actor")
SOURCES = {path.stem: path for path in Path(leasehold.__file__).parent.rglob("sql/**/*.sql")}

#: The methods of a Database whose first argument is the name of a function.
CALLS = {"call", "call_long", "value", "value_long"}

functions = pytest.mark.parametrize("file", FUNCTIONS, ids=lambda file: file.name)


def name_of(file: sql_files.File) -> str:
    return file.name.removeprefix("functions/").removesuffix(".sql")


def source_of(file: sql_files.File) -> str:
    """A function's file as it is written, with its markers."""
    return SOURCES[name_of(file)].read_text()


def without_comments(text: str) -> str:
    return re.sub(r"--.*", "", text)


def test_the_schema_comes_first_then_tables_in_order_then_functions_then_policies() -> None:
    names = [file.name for file in sql_files.read_all()]
    folders = [name.partition("/")[0] for name in names]
    assert list(dict.fromkeys(folders)) == ["schema.sql", "tables", "functions", "policies"]
    tables = [name.split("/")[1:] for name in names if name.startswith("tables/")]
    assert all(re.fullmatch(r"\d{4}_\w+\.sql", name) for _, name in tables)
    owners = list(dict.fromkeys(owner for owner, _ in tables))
    assert owners[:2] == ["engine", "http"]
    assert tables == sorted(tables, key=lambda table: (owners.index(table[0]), table[1]))
    for feature in features():
        if feature.name in owners:
            needed = [owners.index(name) for name in feature.needs if name in owners]
            assert max(needed, default=0) < owners.index(feature.name), "what it needs comes first"
    numbers = [(owner, name[:4]) for owner, name in tables]
    assert len(numbers) == len(set(numbers))


def test_every_file_of_sql_is_applied() -> None:
    """A folder that is not looked into, or a feature that is missing from the list, would go unnoticed."""
    package = Path(leasehold.__file__).parent
    found = [path.name for path in package.rglob("*.sql") if path.parent.name != "testing" and path.name != "roles.sql"]
    assert sorted(file.name.rpartition("/")[2] for file in sql_files.read_all()) == sorted(found)


def test_a_checksum_tells_texts_apart() -> None:
    one, two = (sql_files.File(name="functions/x.sql", text=text) for text in ("select 1", "select 2"))
    assert one.checksum != two.checksum
    assert one.checksum == sql_files.File(name="other", text="select 1").checksum


@functions
def test_a_file_holds_the_one_function_it_is_named_after(file: sql_files.File) -> None:
    made = re.findall(r"create (?:or replace )?function (\S+?)\(", without_comments(file.text))
    assert made == [f"leasehold.{name_of(file)}"]
    assert "create or replace function" in file.text
    assert file.text.startswith("-- "), "it says what it is for"


@functions
def test_a_file_begins_with_its_sentence_and_ends_with_its_body(file: sql_files.File) -> None:
    """What the markers stand for is not written beside them."""
    text = source_of(file)
    assert text.startswith("-- ")
    assert text.endswith("$$;\n")
    head = text[: text.index("$$")]
    assert "search_path" not in head
    assert "security definer" not in head or "-- internal\n" in head


@functions
def test_a_function_is_granted_to_the_roles_of_its_marker_alone(file: sql_files.File) -> None:
    granted = re.findall(r"^grant execute on function leasehold\.(\w+) to (.*);$", file.text, re.MULTILINE)
    roles = [f"leasehold_{role}" for role in sql_files.ROLES if role in file.callers]
    assert granted == ([(name_of(file), ", ".join(roles))] if roles else [])
    assert f"\nrevoke all on function leasehold.{name_of(file)} from public, leasehold_api," in file.text


@functions
def test_a_function_without_settings_is_one_that_postgresql_can_inline_or_that_only_ours_call(
    file: sql_files.File,
) -> None:
    head = file.text[: file.text.index("$$")]
    if "set search_path = pg_catalog, pg_temp" not in head:
        assert "language sql" in head or file.callers <= {"features"}
        assert "security definer" not in head
        assert "\nset " not in head
        assert file.callers <= {"features"} or name_of(file) == "now", "only pinned functions call it"


FUNCTION = """\
-- Count.
{markers}create or replace function pack.count(p_n integer)
returns integer
language plpgsql stable{clauses} as $$
begin
end
$$;
"""


@pytest.mark.parametrize(
    ("markers", "head", "grants"),
    [
        ("-- internal\n", "language plpgsql stable\nset search_path = pg_catalog, pg_temp\nas $$", []),
        ("-- internal\n-- settings: none\n", "language plpgsql stable\nas $$", []),
        (
            "-- for: worker, api\n-- settings: index\n",
            "language plpgsql stable security definer\nset search_path = pg_catalog, pg_temp\n"
            "set enable_seqscan = off set jit = off\nas $$",
            ["grant execute on function pack.count to leasehold_api, leasehold_worker;"],
        ),
        ("-- for: features\n", "language plpgsql stable\nset search_path = pg_catalog, pg_temp\nas $$", []),
    ],
)
def test_markers_become_clauses_and_grants(markers: str, head: str, grants: list[str]) -> None:
    file = sql_files.read_function("functions/count.sql", FUNCTION.format(markers=markers, clauses=""))
    assert file.text.startswith("-- Count.\ncreate or replace function pack.count(p_n integer)\nreturns integer\n")
    assert head in file.text
    every = "public, leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly"
    assert file.text.partition("$$;\n")[2].splitlines() == [
        f"revoke all on function pack.count from {every};",
        *grants,
    ]


def test_a_clause_of_its_own_follows_the_generated_ones() -> None:
    text = FUNCTION.format(markers="-- internal\n", clauses="\nset lock_timeout = '5s'\n")
    assert (
        "stable\nset search_path = pg_catalog, pg_temp\nset lock_timeout = '5s'\n as $$"
        in sql_files.read_function("functions/count.sql", text).text
    )


@pytest.mark.parametrize(
    "markers",
    ["", "-- for: everybody\n", "-- for: api\n-- internal\n", "-- for: api\n-- for: worker\n", "-- internal\n" * 2]
    + [f"-- internal\n-- settings: {settings}\n" for settings in ("fast", "hot\n-- settings: index")],
)
def test_a_function_whose_markers_are_wrong_is_refused(markers: str) -> None:
    with pytest.raises(ValueError, match=r"functions/count\.sql (needs|may have) one line '-- "):
        sql_files.read_function("functions/count.sql", FUNCTION.format(markers=markers, clauses=""))


def test_every_sqlstate_of_ours_becomes_an_error_class() -> None:
    raised = {
        code
        for file in sql_files.read_all()
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
    assert sql_files.render(text, "cell_1") == rendered
    assert sql_files.render(text, "leasehold") == text


@pytest.mark.parametrize(
    "file", [*sql_files.read_all(), sql_files.File(name="roles.sql", text=sql_files.read_roles())], ids=lambda f: f.name
)
def test_no_file_speaks_of_another_schema_once_rendered(file: sql_files.File) -> None:
    text = without_comments(sql_files.render(file.text, "cell_1"))
    left = re.findall(r".*\bleasehold\b.*", text)
    for line in left:
        kept = re.sub(rf"'leasehold\.({'|'.join(SETTINGS)})'", "", line)
        assert not re.search(r"\bleasehold(\.|_(owner|api|worker|operator|readonly)\b)", kept), line
    for name in SETTINGS:
        setting = f"'leasehold.{name}'"
        assert file.text.count(setting) == sql_files.render(file.text, "cell_1").count(setting)


def test_every_function_that_python_calls_exists() -> None:
    known = {name_of(file) for file in FUNCTIONS}
    called: dict[str, str] = {}
    for path in Path(leasehold.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.args else None
                if node.func.attr in CALLS and isinstance(first, ast.Constant):
                    called[str(first.value)] = path.name
    assert len(called) > 150
    assert {name: path for name, path in called.items() if name not in known} == {}
