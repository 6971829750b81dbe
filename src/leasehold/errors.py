"""Every error Leasehold raises, in one tree.

    LeaseholdError              what happened, why, and what to do about it
    ├── BadInput      LH400     the caller asked for something that cannot be
    │   └── BadSetting          a LEASEHOLD_* value is wrong
    ├── NotFound      LH404     no such tenant, queue, kind or job (for this tenant)
    ├── Conflict      LH409     the thing is in another state than the caller believes
    │   ├── AlreadyRunning      this instance is up already
    │   ├── Changed             it is not what the caller has seen any more
    │   └── OtherRequest  LH422 an Idempotency-Key was used for another request
    ├── LeaseLost     LH410     the token is no longer the current one: write nothing
    ├── WorkerLost    LH411     the worker was silent too long and lost its leases
    ├── TooLarge      LH413     a payload or result above the limit
    ├── QuotaExceeded LH429     the tenant has too much waiting already
    ├── NoTenant      LH401     no tenant set for this transaction
    ├── NotAllowed              a key of the HTTP API is not valid, or not for this
    ├── FetchError              a request to the outside world came to nothing; `transient` says whether to try again
    │   ├── FetchRefused        the rules forbid it: a bad URL, an address that is not public, a port, a redirect
    │   │   └── FetchDisallowed a site's robots.txt forbids it
    │   ├── FetchTooLarge       more bytes than allowed
    │   ├── FetchTooSlow        the deadline passed
    │   ├── FetchUnreachable    no such name, no connection, or one that broke
    │   └── BadResponse         an answer that is no valid HTTP, TLS or content coding
    ├── BadSignature            a webhook that its sender did not sign, or not now
    ├── Unreachable             the database does not answer: try again
    │   └── LoginRefused        it answers, and does not let us in
    └── PostgresMissing         no PostgreSQL binaries, or ones that do not fit the data

The codes are SQLSTATEs raised by the functions in ``sql/functions``; ``engine`` turns them into these classes and
lets no driver error past itself. Exit codes are what the command line ends with.
"""

from typing import ClassVar, Self


class LeaseholdError(Exception):
    """Base of all errors; ``hint`` says what to do."""

    sqlstate: ClassVar[str | None] = None
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class BadInput(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH400"
    exit_code = 2


class BadSetting(BadInput):
    sqlstate: ClassVar[str | None] = None


class NotFound(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH404"
    exit_code = 3


class Conflict(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH409"
    exit_code = 4


class AlreadyRunning(Conflict):
    sqlstate: ClassVar[str | None] = None


class Changed(Conflict):
    sqlstate: ClassVar[str | None] = None


class OtherRequest(Conflict):
    sqlstate: ClassVar[str | None] = "LH422"


class LeaseLost(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH410"
    exit_code = 4


class WorkerLost(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH411"
    exit_code = 4


class TooLarge(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH413"
    exit_code = 2


class QuotaExceeded(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH429"
    exit_code = 4


class NoTenant(LeaseholdError):
    sqlstate: ClassVar[str | None] = "LH401"
    exit_code = 5


class NotAllowed(LeaseholdError):
    exit_code = 5


class FetchError(LeaseholdError):
    """The message may be shown to a tenant; ``detail`` names addresses and is for operators only."""

    transient: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.detail = detail


class FetchRefused(FetchError):
    """``why`` is the reason alone, for whoever must not name the thing itself."""

    why: str = "it is not allowed"

    @classmethod
    def because(cls, what: str, why: str, *, hint: str | None = None, detail: str | None = None) -> Self:
        refused = cls(f"{what} is refused: {why}", hint=hint, detail=detail)
        refused.why = why
        return refused


class FetchDisallowed(FetchRefused):
    pass


class FetchTooLarge(FetchError):
    pass


class FetchTooSlow(FetchError):
    transient = True
    exit_code = 7


class FetchUnreachable(FetchError):
    transient = True


class BadResponse(FetchError):
    pass


class BadSignature(LeaseholdError):
    exit_code = 5


class Unreachable(LeaseholdError):
    exit_code = 6


class LoginRefused(Unreachable):
    pass


class PostgresMissing(LeaseholdError):
    exit_code = 6


def _tree(base: type[LeaseholdError]) -> list[type[LeaseholdError]]:
    return [base, *(found for child in base.__subclasses__() for found in _tree(child))]


#: What each SQLSTATE of the SQL functions becomes in Python.
BY_SQLSTATE: dict[str, type[LeaseholdError]] = {
    error.sqlstate: error for error in _tree(LeaseholdError) if error.sqlstate
}
