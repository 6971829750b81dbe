"""What is easily got wrong in a program is refused where it is written, in one sentence and with a way out."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import httpx2
import pytest

from leasehold import Context, Leasehold
from leasehold.database.errors import from_sqlstate
from leasehold.durations import HINT
from leasehold.errors import BadInput, LeaseholdError, NotAllowed, Unreachable
from leasehold.features.webhooks.rules import checked_url
from leasehold.remote import Worker
from leasehold.remote.connection import failed
from leasehold.settings import Settings, unknown_variables

Mistake = Callable[[Leasehold], object]


@dataclass
class Order:
    n: int


async def work(ctx: Context) -> None: ...
async def refund(order: Order) -> None: ...
async def bare(order) -> None: ...  # type: ignore[no-untyped-def]
async def swapped(order: Order, ctx: Context) -> None: ...
async def unreadable(ctx: Context, order: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821


def option(**options: Any) -> Mistake:
    return lambda app: app.handler("shop.work", **options)(work)


def sent(conn: Any) -> Mistake:
    return lambda app: asyncio.run(app.enqueue("shop.work", conn=conn, tenant="acme"))


def at(url: str) -> Mistake:
    return lambda app: Settings(database_url=url)


async def ordered(ctx: Context, order: Order) -> None: ...
async def anything(ctx: Context, value: Any) -> None: ...
async def bare_context(ctx: Context) -> None: ...


def asked(order: Any, *, kind: str = "shop.order", payload: Any = None, **options: Any) -> Mistake:
    def enqueue(app: Leasehold) -> object:
        app.handler("shop.order")(ordered)
        app.handler("shop.anything")(anything)
        return asyncio.run(app.enqueue(kind, order if payload is None else payload, tenant="acme", **options))

    return enqueue


def twice(functions: Callable[[], tuple[Any, Any]]) -> Mistake:
    def register(app: Leasehold) -> object:
        return [app.handler("shop.work")(function) for function in functions()]

    return register


def under_another_name(function: Any) -> Any:
    """The same function of the same file, as Python makes it when its module is imported again."""
    other = FunctionType(function.__code__, function.__globals__, function.__name__)
    other.__module__ = "mistakes"
    other.__annotations__ = function.__annotations__
    return other


def upcast(app: Leasehold) -> object:
    return app.handler("shop.upcast")(work).upcast(lambda value: value)  # type: ignore[arg-type]


def remote(function: Any) -> Mistake:
    return lambda app: Worker("http://127.0.0.1", "key").handler("shop.work")(function)


URL = "postgresql://user:password@host:5432/database"
KIND = "a kind is pack.verb in lower case, such as shop.refund"
NO_DURATION = "shop.work: timeout='{}' is not a duration"
PAIR = "retry=(1, 3600); attempts=5 is how often a job is tried"
CONN = "pass the connection or session of asyncpg, psycopg, SQLAlchemy or Django whose transaction is open"
MISTAKES: dict[str, tuple[Mistake, str, str | None]] = {
    "a decorator without parentheses": (
        lambda app: app.handler(work),  # type: ignore[arg-type]
        "@app.handler without a kind registers nothing: work would never run",
        '@app.handler("shop.work")',
    ),
    "a batch without parentheses": (
        lambda app: app.batch(work),  # type: ignore[arg-type]
        "@app.batch without a kind registers nothing: work would never run",
        '@app.batch("shop.work")',
    ),
    "an upcast without parentheses": (
        upcast,
        "@work.upcast needs the version that it turns into the next one",
        "@work.upcast(1)",
    ),
    "a remote handler without parentheses": (
        lambda app: Worker("http://127.0.0.1", "key").handler(work),  # type: ignore[arg-type]
        "@worker.handler without a kind registers nothing: work would never run",
        '@worker.handler("shop.work")',
    ),
    "a kind without a pack": (lambda app: app.handler("work"), "'work' cannot be a kind", KIND),
    "a kind in capitals": (lambda app: app.handler("Shop.Work"), "'Shop.Work' cannot be a kind", KIND),
    "a handler without a context": (
        lambda app: app.handler("shop.refund")(refund),  # type: ignore[arg-type]
        "handler refund for shop.refund takes 'order' first, where the context goes",
        "begin with it: refund(ctx: Context, order)",
    ),
    "a handler without a context and without types": (
        lambda app: app.handler("shop.bare")(bare),
        "handler bare for shop.bare takes 'order' first, where the context goes",
        "begin with it: bare(ctx: Context, order)",
    ),
    "a handler with its parameters the wrong way round": (
        lambda app: app.handler("shop.swapped")(swapped),  # type: ignore[arg-type]
        "handler swapped for shop.swapped takes 'order' first, where the context goes",
        "begin with it: swapped(ctx: Context, order)",
    ),
    "a remote handler without a context": (
        remote(refund),
        "handler refund for shop.work takes 'order' first, where the context goes",
        "begin with it: refund(ctx: Context, order)",
    ),
    "an annotation that cannot be read": (
        lambda app: app.handler("shop.unreadable")(unreadable),
        "the annotations of handler unreadable for shop.unreadable cannot be read: name 'Missing' is not defined",
        "import what they name where the module is run, not under TYPE_CHECKING alone",
    ),
    "retry as a number": (
        option(retry=5),
        "shop.work: retry=5 is not a pair of seconds: the first delay and the longest one",
        PAIR,
    ),
    "retry as three numbers": (
        option(retry=(1, 2, 3)),
        "shop.work: retry=(1, 2, 3) is not a pair of seconds: the first delay and the longest one",
        PAIR,
    ),
    "retry as texts": (
        option(retry=("1", "2")),
        "shop.work: retry='1' is not a duration",
        HINT,
    ),
    "attempts as a text": (option(attempts="x"), "shop.work: attempts is a number, not 'x'", "attempts=5"),
    "attempts as a text, of a job": (
        asked({}, attempts="x"),
        "attempts is a number, not 'x'",
        "attempts=5",
    ),
    "a kind with blanks": (lambda app: app.handler("My Job!"), "'My Job!' cannot be a kind", KIND),
    "a job of a kind with blanks": (
        lambda app: asyncio.run(app.enqueue("My Job!", tenant="acme")),
        "'My Job!' cannot be a kind",
        KIND,
    ),
    "two handlers of one kind": (
        twice(lambda: (work, bare_context)),
        "shop.work has two handlers: tests.program.test_mistakes.work and tests.program.test_mistakes.bare_context",
        "give one of them another kind, or remove it",
    ),
    "a module imported under two names": (
        twice(lambda: (work, under_another_name(work))),
        "shop.work has two handlers: its module was imported as tests.program.test_mistakes and as mistakes",
        "import it by one name everywhere: leasehold worker takes the name that other modules import",
    ),
    "a payload that does not fit": (
        asked({"n": "many"}),
        "the payload of shop.order does not fit: n: Input should be a valid integer, unable"
        " to parse string as an integer",
        "ordered takes Order",
    ),
    "a payload that JSON cannot hold": (
        asked({"n": 1}, kind="shop.anything", payload={"n": object()}),
        "the payload of shop.anything cannot be written as JSON: Unable to serialize unknown type: <class 'object'>",
        "a payload is made of numbers, texts, lists, mappings, times, dataclasses and pydantic models",
    ),
    "a payload that JSON cannot hold, of a kind without a handler here": (
        lambda app: asyncio.run(app.enqueue("shop.elsewhere", {"n": {1}}, tenant="acme")),
        "the payload is not JSON: Object of type set is not JSON serializable",
        "it is made of numbers, texts, booleans, None, lists and dicts",
    ),
    "a timeout without a unit": (option(timeout="60"), NO_DURATION.format("60"), HINT),
    "a timeout in words": (option(timeout="a minute"), NO_DURATION.format("a minute"), HINT),
    "a connection that is none": (
        sent(object()),
        "conn is a object, not an open connection: it has no method execute",
        CONN,
    ),
    "a URL in the place of a connection": (
        sent("postgresql://u:secret@h/d"),
        "conn is a str, not an open connection: it has no method execute",
        CONN,
    ),
    "a connection that is none, without a loop": (
        lambda app: app.sync.enqueue("shop.work", conn=object(), tenant="acme"),
        "conn is a object, not an open connection: it has no method cursor",
        CONN,
    ),
    "another database": (
        at("mysql://u:secret@h/d"),
        "LEASEHOLD_DATABASE_URL begins with mysql://, and Leasehold runs on PostgreSQL",
        URL,
    ),
    "a URL of SQLAlchemy": (
        at("postgresql+asyncpg://u:secret@h/d"),
        "LEASEHOLD_DATABASE_URL begins with postgresql+asyncpg://: what stands after the + names a driver, and"
        " Leasehold brings its own",
        URL,
    ),
    "no URL at all": (at("u:secret@h:5432/d"), "LEASEHOLD_DATABASE_URL is not a URL", URL),
    "a password that is not encoded": (
        at("postgresql://u:sec/ret@h:5432/d"),
        "LEASEHOLD_DATABASE_URL has no number where the port stands: / ? # @ : in a password are written %2F %3F"
        " %23 %40 %3A",
        URL,
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused_where_it_is_made(name: str) -> None:
    make, words, hint = MISTAKES[name]
    with pytest.raises(LeaseholdError) as caught:
        make(Leasehold(Settings(database_url="postgresql://u@127.0.0.1:1/d")))
    assert (str(caught.value), caught.value.hint) == (words, hint)


@pytest.mark.parametrize(
    "url",
    [
        "postgres://h/d",
        "postgresql:///d?host=/tmp",
        "postgresql://u:p@one:5432,two,[::1]:5433/d?target_session_attrs=read-write",
        "postgresql://u@%2Ftmp:5432/d",
    ],
)
def test_every_form_of_a_postgresql_url_is_taken(url: str) -> None:
    assert Settings(api_url=url).api_url == url


def test_a_handler_may_call_its_context_what_it_likes_if_it_says_so() -> None:
    app = Leasehold()

    @app.handler("shop.typed")
    async def typed(attempt: Context, order: Order) -> None: ...

    @app.handler("shop.untyped")
    async def untyped(_ctx, order) -> None: ...  # type: ignore[no-untyped-def]

    assert set(app.handlers) == {"shop.typed", "shop.untyped"}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8765/",
        "http://localhost:8765/",
        "http://[::1]:8765/",
        "http://files.internal/",
        "https://10.0.0.1/",
    ],
)
def test_the_way_out_of_a_refused_endpoint_leads_there(url: str) -> None:
    """The try-out of webhooks was told another setting, which leads no further."""
    with pytest.raises(LeaseholdError) as caught:
        checked_url(url, Settings())
    setting = re.search(r"LEASEHOLD_FETCH_ALLOW=([^\s,]+)", caught.value.hint or "")
    assert setting, caught.value.hint
    assert str(checked_url(url, Settings(fetch_allow=setting[1]))) == url


def test_a_variable_that_is_no_setting_is_named_with_the_one_that_was_meant() -> None:
    env = {
        "LEASEHOLD_SLOT": "5",
        "LEASEHOLD_DATABASE_ULR": "postgresql://u:secret@h/d",
        "LEASEHOLD_WEATHER": "fine",
        "LEASEHOLD_SLOTS": "5",
        "LEASEHOLD_POSTINGS_GAP_SECONDS": "1",
        "LEASEHOLD_TEST_DATABASE_URL": "x",
        "LEASEHOLD_API_PASSWORD": "x",
        "PATH": "/bin",
    }
    assert unknown_variables(env) == [
        "LEASEHOLD_DATABASE_ULR is not a setting and has no effect: did you mean LEASEHOLD_DATABASE_URL?",
        "LEASEHOLD_SLOT is not a setting and has no effect: did you mean LEASEHOLD_SLOTS?",
        "LEASEHOLD_WEATHER is not a setting and has no effect",
    ]


def test_a_full_disk_is_named_and_waited_for() -> None:
    problem = from_sqlstate("53100", 'could not extend file "base/1/2": No space left on device', None)
    assert isinstance(problem, Unreachable)
    assert str(problem) == (
        'the disk of the database server is full: could not extend file "base/1/2": No space left on device'
    )
    assert problem.hint == "free space there; what was accepted is kept, and workers go on when there is room"


def test_an_enqueue_without_await_is_warned_of_by_the_name_of_the_call() -> None:
    app = Leasehold(Settings(database_url="postgresql://u@127.0.0.1:1/d"))
    forgotten = [app.handler("shop.work")(work).enqueue()]
    with pytest.warns(RuntimeWarning, match="coroutine 'Leasehold.enqueue' was never awaited"):
        forgotten.clear()


def test_a_client_passes_on_what_the_server_says_is_wrong() -> None:
    fault = {"pointer": "/max_attempts", "detail": "Input should be a valid integer", "code": "int_type"}
    body = {
        "code": "invalid",
        "detail": "the body says something that cannot be",
        "hint": "see /docs",
        "errors": [fault],
    }
    error, again = failed(httpx2.Response(422, json=body))
    assert (type(error), again) == (BadInput, None)
    assert str(error) == f"{body['detail']}: /max_attempts: Input should be a valid integer"
    assert error.hint == "see /docs"


def test_a_wrong_key_is_named_with_a_way_out() -> None:
    body = {"code": "unauthenticated", "detail": "the key is not valid", "hint": "leasehold keys create NAME"}
    error, again = failed(httpx2.Response(401, json=body))
    assert (type(error), str(error), error.hint, again) == (NotAllowed, body["detail"], body["hint"], None)
