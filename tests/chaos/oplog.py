"""The operation log: what clients asked, and what they were told. One JSON object a line, written before and after."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from leasehold.errors import BadInput, Conflict, LeaseholdError, NotFound, QuotaExceeded, TooLarge

Status = Literal["ok", "fail", "unknown"]
#: The database has said no: nothing happened. After any other error nobody can tell.
_DEFINITE = (BadInput, NotFound, Conflict, QuotaExceeded, TooLarge)


@dataclass(slots=True, kw_only=True)
class Op:
    """One operation of a client. ``unknown``: an answer never came, so it may have happened or not."""

    what: str
    tenant: str = "a"
    args: dict[str, Any] = field(default_factory=dict)
    began: float = 0.0  # monotonic, the same for all processes of a machine
    ended: float = 0.0
    ended_at: float = 0.0  # by the wall clock, which is the database's too
    status: Status = "unknown"
    result: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    strange: bool = False  # an error that is none of ours reached the caller


class OpLog:
    """Appends to one file; a process that is killed leaves an invoke without an answer."""

    def __init__(self, path: Path, client: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._client = client
        self._count = 0

    def invoke(self, what: str, tenant: str = "a", **args: Any) -> str:
        self._count += 1
        op = f"{self._client}-{self._count}"
        self._write(op, "invoke", what=what, tenant=tenant, args=args)
        return op

    def ok(self, op: str, **result: Any) -> None:
        self._write(op, "ok", result=result)

    def failed(self, op: str, problem: BaseException, **result: Any) -> None:
        """``fail`` when it certainly did not happen, else ``unknown``."""
        phase = "fail" if isinstance(problem, _DEFINITE) else "unknown"
        strange = not isinstance(problem, (LeaseholdError, TimeoutError, OSError))
        words = f"{type(problem).__name__}: {problem}"[:300]
        self._write(op, phase, error=words, result=result, **({"strange": True} if strange else {}))

    def _write(self, op: str, phase: str, **fields: Any) -> None:
        line = {"op": op, "phase": phase, "mono": time.monotonic(), "at": time.time(), **fields}
        os.write(self._file, f"{json.dumps(line, default=str)}\n".encode())


def read(folder: Path) -> list[Op]:
    """The logs of all clients that wrote into this folder."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return list(ops_of(json.loads(line) for line in lines if line.endswith("}")))


def ops_of(lines: Iterable[dict[str, Any]]) -> Iterator[Op]:
    """Operations in the order in which they began."""
    found: dict[str, Op] = {}
    for line in lines:
        if line["phase"] == "invoke":
            found[line["op"]] = Op(what=line["what"], tenant=line["tenant"], args=line["args"], began=line["mono"])
        else:
            op = found[line["op"]]
            op.status, op.ended, op.ended_at = line["phase"], line["mono"], line["at"]
            op.result, op.error, op.strange = line.get("result", {}), line.get("error"), line.get("strange", False)
    return iter(sorted(found.values(), key=lambda op: op.began))
