"""Packs are found by what is installed, and what does not fit together fails with the names of both sides."""

from dataclasses import replace
from pathlib import Path

import pytest

from leasehold import Context, Leasehold
from leasehold.database.plugin_schema import read_files
from leasehold.errors import BadInput, BadSetting, LeaseholdError
from leasehold.feature import Feature
from leasehold.plugins import discovery
from leasehold.plugins.discovery import InstalledFeature, app_of, assembled, discover, files_of_all
from tests.packs.installed import install


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path, in which packs can be installed."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


async def work(ctx: Context) -> None: ...


# -- what is found --------------------------------------------------------------------------------------------------


def test_the_kinds_of_leasehold_itself_are_there_without_any_pack() -> None:
    kinds = assembled(discover("none")).handlers.keys()
    assert kinds >= {"demo.hello", "http.request", "webhook.deliver", "report.generate"}


def test_an_installed_pack_is_found_with_its_distribution(site: Path) -> None:
    install(site, "found")
    found = discover()
    assert "pack found (acme_found 1.2)" in [str(one) for one in found]
    assert "packs/found/0001_notes.sql" in [file.name for files in files_of_all(found) for file in files.files]
    assert {"found.note", "demo.hello"} <= assembled(found).handlers.keys()


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        ("narrow", ["narrow"]),
        (" narrow , audits ", ["audits", "narrow"]),
        ("none", []),
    ],
)
def test_the_setting_narrows_it(site: Path, setting: str, names: list[str]) -> None:
    install(site, "narrow")
    assert [one.feature.name for one in discover(setting)] == names
    assert {*names, "audits", "postings"} <= {one.feature.name for one in discover()}


def test_a_pack_whose_extra_is_not_installed_counts_as_not_installed(site: Path) -> None:
    install(site, "extra", module="import nothing_like_this", needs="no-such-distribution")
    assert "extra" not in [one.feature.name for one in discover()]
    with pytest.raises(BadSetting, match="LEASEHOLD_PACKS names extra, which lacks no-such-distribution") as refused:
        discover("extra")
    assert refused.value.hint == "pip install 'acme_extra[extra]'"
    install(site, "there", needs="pytest")
    assert "there" in [one.feature.name for one in discover()]


def test_without_packs_nobody_looks_at_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(**_: str) -> None:
        raise AssertionError("reads a file of every distribution")

    monkeypatch.setattr(discovery, "entry_points", look)
    assert discover("none") == []


def test_a_pack_that_is_left_out_is_not_even_imported(site: Path) -> None:
    install(site, "broken", module="raise RuntimeError('it is broken')")
    assert discover("audits")
    with pytest.raises(LeaseholdError, match=r"pack broken \(acme_broken 1\.2\) cannot be loaded: RuntimeError: it is"):
        discover()


# -- what does not fit ----------------------------------------------------------------------------------------------


def test_an_unknown_name_is_told_with_those_that_are_installed() -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_PACKS names audit, shop, which is not") as refused:
        discover("audit,postings,shop")
    assert "postings (leasehold-packs " in (refused.value.hint or "")


def test_two_distributions_with_a_pack_of_one_name(site: Path) -> None:
    install(site, "twice", distribution="acme_one")
    install(site, "twice", distribution="acme_two")
    with pytest.raises(LeaseholdError, match=r"two packs are called twice: acme_\w+ 1\.2 and acme_\w+ 1\.2"):
        discover()


def test_a_kind_that_the_program_and_a_pack_both_handle(site: Path) -> None:
    install(site, "both")
    mine = Leasehold()
    mine.handler("both.note")(work)
    with pytest.raises(BadInput, match=r"both\.note has two handlers: one of your app, one of pack both \(acme_both 1"):
        assembled(discover(), mine)


def test_an_entry_point_that_is_no_pack_or_another(site: Path) -> None:
    install(
        site,
        "other",
        module="from leasehold.feature import Feature\nfeature = Feature(name='another', package=__name__)",
    )
    with pytest.raises(LeaseholdError, match="acme_other:feature is the pack other; it is the pack another"):
        discover("other")
    install(site, "thing", module="feature = 7")
    with pytest.raises(LeaseholdError, match="it is a int"):
        discover("thing")


@pytest.mark.parametrize("name", ["", "Shop", "9lives", "a-b", "api", "test", "none", "x" * 21])
def test_names_that_no_pack_can_have(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be called"):
        InstalledFeature(feature=Feature(name=name, package="shop"), distribution="acme", version="1")


mine = Leasehold()
mine.handler("shop.refund")(work)


def test_kinds_begin_with_the_name_of_their_pack() -> None:
    parts = ("test_packs:mine", "test_packs:mine")
    shop = Feature(name="shop", package="tests.packs", kinds=parts)
    assert sorted(app_of(shop).handlers) == ["shop.refund"]
    with pytest.raises(BadInput, match=r"pack mail has a kind shop\.refund"):
        app_of(replace(shop, name="mail"))


@pytest.mark.parametrize(
    "names",
    [
        ["Notes.sql"],  # neither a number nor the name of a function
        ["notes.sql"],  # no function
        ["0001_a.sql", "0001_b.sql"],  # which one first?
        ["1_a.sql"],
    ],
)
def test_files_of_tables_are_numbered_and_the_others_hold_a_function(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("select 1")
    (tmp_path / "README.md").write_text("is left alone")
    with pytest.raises(BadInput, match=r"has neither a number of its own|is not a comment"):
        read_files("shop", tmp_path)
