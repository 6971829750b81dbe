"""One call over HTTP: what is asked, how its answer is read, which answers are asked for again, which error it is."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx2

from leasehold.errors import (
    BadInput,
    Changed,
    Conflict,
    LeaseholdError,
    LeaseLost,
    NotAllowed,
    NotFound,
    OtherRequest,
    QuotaExceeded,
    TooLarge,
    Unreachable,
    WorkerLost,
)
from leasehold.json_codec import plain_options

T = TypeVar("T")

#: What passes by itself.
_PASSING = frozenset({429, 502, 503, 504})
_LONGEST_PAUSE = 30.0
_ERRORS: dict[str, type[LeaseholdError]] = {
    "unauthenticated": NotAllowed,
    "forbidden": NotAllowed,
    "not_found": NotFound,
    "conflict": Conflict,
    "no_result": Conflict,
    "changed": Changed,
    "key_reused": OtherRequest,
    "lease_lost": LeaseLost,
    "worker_lost": WorkerLost,
    "too_large": TooLarge,
    "rate_limited": QuotaExceeded,
    "quota_exceeded": QuotaExceeded,
    "too_many_streams": QuotaExceeded,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """A request, and what its answer is to us. It may be sent again: each is safe to repeat, or has a key for that."""

    method: str
    path: str
    read: Callable[[Any], T]
    json: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None  # None: the client's own

    def request(self, client: "httpx2.Client | httpx2.AsyncClient") -> httpx2.Request:
        more: dict[str, Any] = {"json": self.json, "timeout": self.timeout}
        given = {name: value for name, value in more.items() if value is not None}
        return client.build_request(
            self.method, self.path, params=plain_options(self.params), headers=self.headers, **given
        )

    def answer(self, response: httpx2.Response) -> T:
        return self.read(response.json() if response.content else None)


def pauses(tries: int) -> Iterator[float | None]:
    """Seconds to wait before each further try; None after the last."""
    for number in range(tries - 1):
        yield min(_LONGEST_PAUSE, 0.2 * 2**number) * random.uniform(0.5, 1.0)
    yield None


def failed(response: httpx2.Response) -> tuple[LeaseholdError, float | None]:
    """The error of an answer, and for one that may pass the least seconds to wait before another try."""
    problem = _problem(response)
    code, detail = problem.get("code", ""), problem.get("detail") or f"the server answers {response.status_code}"
    passes = response.status_code in _PASSING and code != "quota_exceeded"
    usual = BadInput if response.status_code < 500 else Unreachable
    error = _ERRORS.get(code, Unreachable if passes else usual)(
        _with_faults(detail, problem.get("errors")), hint=problem.get("hint")
    )
    return error, float(problem.get("retry_after") or 0) if passes else None


def _with_faults(detail: str, faults: Any) -> str:
    """What the server says is wrong, each with the JSON pointer of the part that it is about."""
    named = [f"{one.get('pointer')}: {one.get('detail')}" for one in faults or () if isinstance(one, dict)]
    return f"{detail}: {'; '.join(named)}" if named else detail


def lost(problem: httpx2.TransportError) -> LeaseholdError:
    """No answer came. The words of the library may name more than the address that was given."""
    return Unreachable(
        f"the server does not answer: {type(problem).__name__}", hint="is the URL right, and is it running?"
    )


def of_item(item: Mapping[str, Any]) -> LeaseholdError:
    """The error of one item of a batch."""
    usual = Conflict if item.get("status") == 409 else BadInput
    return _ERRORS.get(str(item.get("code")), usual)(str(item.get("detail") or item.get("code")))


def path(*parts: Any) -> str:
    """An address under ``/v1``, whatever its parts hold."""
    return "/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def _problem(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
