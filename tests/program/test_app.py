from pathlib import Path

import pytest

from leasehold.errors import BadInput, LeaseholdError, NotFound
from leasehold.program.app import Leasehold, load
from leasehold.program.context import Context


async def nothing(ctx: Context) -> None:
    pass


def test_a_handler_is_registered_with_its_options() -> None:
    app = Leasehold()
    kind = app.handler("t.work", queue="money", attempts=2)(nothing)
    assert kind.handler.function is nothing
    assert app.handlers["t.work"].options == {"queue": "money", "attempts": 2}
    assert app.queues == ["default", "money"]


def test_a_kind_with_two_handlers_is_refused_by_the_names_of_both() -> None:
    async def other(ctx: Context) -> None:
        pass

    app = Leasehold()
    app.handler("t.work")(nothing)
    with pytest.raises(BadInput, match=r"t\.work has two handlers: tests.program.test_app.nothing and .*other"):
        app.handler("t.work")(other)
    assert app.handlers["t.work"].function is nothing


def test_an_app_takes_in_another_with_its_options() -> None:
    one, two = Leasehold(), Leasehold()
    two.handler("t.work", queue="money")(nothing)
    one.include(two)
    assert (one.handlers["t.work"].function, one.queues) == (nothing, ["default", "money"])
    with pytest.raises(BadInput, match="two handlers"):
        one.include(two)


def test_an_app_is_loaded_by_module_and_attribute() -> None:
    from leasehold.features.demo import handlers as demo

    assert load("leasehold.features.demo.handlers:app") is demo.app
    assert load("leasehold.features.demo.handlers") is demo.app


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no_such_module:app", "no_such_module"),
        ("leasehold.no_such:app", r"leasehold\.no_such"),
        ("leasehold.features.demo.handlers:nothing", "'nothing'"),
        ("json", "'app'"),
    ],
)
def test_what_is_not_there_is_named_with_a_way_out(path: str, words: str) -> None:
    with pytest.raises(NotFound, match=words) as problem:
        load(path)
    assert problem.value.hint


def test_something_else_than_an_app_is_refused() -> None:
    with pytest.raises(BadInput, match=r"leasehold\.features\.demo\.handlers:asyncio is a module, not a Leasehold app"):
        load("leasehold.features.demo.handlers:asyncio")


@pytest.mark.parametrize("path", [":app", "", ".shop:app"])
def test_a_path_that_names_no_module_is_an_error_of_ours(path: str) -> None:
    with pytest.raises(LeaseholdError):
        load(path)


def test_a_module_of_the_users_that_breaks_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_shop.py").write_text("import math\nmath.no_such_function()\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Exception, match="no_such_function"):
        load("broken_shop:app")


def test_a_module_that_needs_a_missing_one_names_the_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_shop.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NotFound, match="not_installed_anywhere"):
        load("needy_shop:app")
