"""Errors of the driver, and of PostgreSQL, as ours."""

import re
from types import TracebackType

import asyncpg

from leasehold.database.connection import NoAnswer
from leasehold.database.pool import AllInUse, PoolClosed
from leasehold.errors import BY_SQLSTATE, BadInput, LeaseholdError, LoginRefused, Unreachable
from leasehold.outage import Outage

#: SQLSTATEs of a call that was given up by a server that is well: deadlock, serialization, a lock, a time limit.
_GIVEN_UP = ("40P01", "40001", "55P03", "57014")
#: What the driver raises, before it asks the server, for a value that does not fit its parameter: a lone surrogate in a
#: text, a number that is too large.
_UNFIT = asyncpg.exceptions._base.DataError


#: One of ours: they are made with the schema. That of a login of the user's own is another mistake.
_NO_ROLE = re.compile(r'role "\w+_(api|worker|operator|readonly|owner)" does not exist')


def _words(problem: Exception) -> str:
    """The driver's words, without what cannot be printed: the value that did not fit is among them."""
    return str(problem).encode("ascii", "backslashreplace").decode()[:200]


class Translated:
    """Not a generator function: every call passes here, and those take a while to begin and to end."""

    __slots__ = ("_outage",)

    def __init__(self, outage: Outage) -> None:
        self._outage = outage

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if problem is None:
            if self._outage.since is not None:
                self._outage.end()
        elif ours := _ours(problem):
            if isinstance(ours, Unreachable) and _is_away(problem):
                self._outage.begin(ours, waited_s=problem.seconds if isinstance(problem, NoAnswer) else 0.0)
            raise ours from problem


def _ours(problem: BaseException) -> LeaseholdError | None:
    """An error of the driver as one of ours; None where it is not the driver's."""
    match problem:
        case asyncpg.PostgresError():
            return from_sqlstate(problem.sqlstate or "", str(problem.args[0]), problem.hint)
        case _UNFIT():
            return BadInput(f"the database has no such value: {_words(problem)}")
        case NoAnswer():
            return Unreachable(str(problem), hint=problem.hint)
        case OSError() | asyncpg.InterfaceError() | asyncpg.InternalClientError():
            # InternalClientError: the server's farewell came while the driver was about to speak.
            words = str(problem) or "it took too long"
            return Unreachable(
                f"the database does not answer: {words}", hint="is it running? `leasehold up` starts one"
            )
    return None


def _is_away(problem: BaseException) -> bool:
    """Whether this says that nobody there answers, or lets us in: not that one call was given up."""
    if isinstance(problem, asyncpg.PostgresError):
        return not (problem.sqlstate or "").startswith(_GIVEN_UP)
    return not isinstance(problem, (AllInUse, PoolClosed))


_TRANSLATED = Translated(Outage())


def translated() -> Translated:
    """Let no driver error past: SQLSTATE LHxxx becomes its class, bad values BadInput, a lost server Unreachable."""
    return _TRANSLATED


def from_sqlstate(code: str, message: str, hint: str | None) -> LeaseholdError:
    """An error of PostgreSQL as one of ours."""
    if code in BY_SQLSTATE:
        return BY_SQLSTATE[code](message, hint=hint)
    if _NO_ROLE.search(message) or code == "3F000":  # no such schema
        return LoginRefused(f"Leasehold is not installed in this database: {message}", hint="leasehold db migrate")
    if code in ("42883", "42P01"):  # no such function, no such table
        way_out = "`leasehold db status` says whether the database is behind this program"
        return LeaseholdError(f"the database refused: {message}", hint=hint or way_out)
    if code.startswith(("22", "54")):  # data exceptions: not a number, not a time, not JSON; too deep, too long
        return BadInput(message, hint=hint)
    if code.startswith(("28", "3D")):  # login, no such database
        way_out = "check LEASEHOLD_DATABASE_URL and the URLs of the roles: `leasehold config show`"
        return LoginRefused(f"the database refuses the login: {message}", hint=hint or way_out)
    if code == "53100":
        way_out = "free space there; what was accepted is kept, and workers go on when there is room"
        return Unreachable(f"the disk of the database server is full: {message}", hint=way_out)
    # Connection, resources, shutdown; a transaction that was idle, or open, for too long.
    if code.startswith(("08", "53", "57P", "58")) or code in ("25P03", "25P04"):
        return Unreachable(f"the database does not answer: {message}", hint=hint or "is it running? `leasehold doctor`")
    if code == "57014":  # it took too long, or somebody ended it
        way_out = "try again; if it may take longer, set LEASEHOLD_CALL_SECONDS"
        return Unreachable(f"the database gave up: {message}", hint=way_out)
    if code in _GIVEN_UP:  # nothing of it happened
        return Unreachable(f"the database gave up: {message}", hint="try again")
    if code == "25006":  # a replica
        way_out = "name all servers, and target_session_attrs=read-write: docs/operating/replicas.md"
        return Unreachable(f"the database can only be read: {message}", hint=way_out)
    if code == "42501":  # insufficient privilege
        way_out = (
            "this login lacks a role of ours: grant <schema>_api (or _worker, …) to it;"
            " or grants are missing, as after a restore: `leasehold db migrate`"
        )
        return LeaseholdError(f"the database refused: {message}", hint=hint or way_out)
    if code in ("26000", "42P05"):  # a prepared statement that is not there, or there already
        way_out = "is a pooler in between? set LEASEHOLD_POOLED=1"
        return LeaseholdError(f"the database refused: {message}", hint=way_out)
    return LeaseholdError(f"the database refused: {message} (SQLSTATE {code})", hint=hint)
