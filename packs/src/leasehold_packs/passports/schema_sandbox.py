"""Schemas that tenants wrote, asked in processes that end.

A schema can take for ever over a value, and while one of Python's regular expressions is matched nothing else of its
process runs, not even the beats of the worker: one tenant's pattern would stop everybody's work, in one worker after
the other. So ``json_schema`` runs in a process of its own, which is killed when it has used so much of the processor.
"""

import atexit
import json
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

from leasehold_packs.passports import json_schema
from leasehold_packs.passports.errors import Finding, invalid
from leasehold_packs.passports.pointers import pointer_to

#: Of the processor, for one order.
SECONDS = 10.0
_SPARES = 2
_spares: list["subprocess.Popen[bytes]"] = []  # processes that wait for an order


class CheckerDied(Exception):
    """The process went away without having used up its time: it is worth another try."""


def schema_findings(schema: Any, value: Any) -> list[Finding]:
    """Where the value breaks its schema, in order. Blocks: call it in a thread."""
    if schema is True:  # as of a package without one
        return []
    return [Finding(at=pointer_to(path), message=message) for path, message in _ask((SECONDS, schema, value))]


def _ask(order: tuple[float, Any, Any]) -> list[json_schema.Broken]:
    process = _take()
    try:
        line = _answer(process, order)
    except BaseException:
        _end(process)
        raise
    if not line.endswith(b"\n"):
        raise _problem(_end(process))
    _give_back(process)
    answer = json.loads(line)
    if "unusable" in answer:
        raise invalid(answer["unusable"])
    found: list[json_schema.Broken] = answer["broken"]
    return found


def _answer(process: "subprocess.Popen[bytes]", order: tuple[float, Any, Any]) -> bytes:
    assert process.stdin
    assert process.stdout
    try:
        process.stdin.write(pickle.dumps(order))
        process.stdin.flush()
    except RecursionError:
        raise invalid("this JSON Schema, or what it is about, is nested too deeply") from None
    except BrokenPipeError:
        return b""
    return process.stdout.readline()


def _problem(code: int) -> Exception:
    if code == -signal.SIGPROF:
        return invalid(
            f"the schema was not done after {SECONDS:g} s of the processor",
            hint="its patterns may try the same text in too many ways, or its references may multiply",
        )
    return CheckerDied(f"the process that checks schemas ended with {code}")


def _take() -> "subprocess.Popen[bytes]":
    while _spares:
        try:
            process = _spares.pop()
        except IndexError:  # another thread was quicker
            break
        if process.poll() is None:
            return process
        _end(process)
    # By its path, and without the folder of it: the packages around it take longer to import than most schemas.
    return subprocess.Popen([sys.executable, "-P", json_schema.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _give_back(process: "subprocess.Popen[bytes]") -> None:
    if len(_spares) < _SPARES:
        _spares.append(process)
    else:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> int:
    """How it ended; one that still runs is killed."""
    process.kill()
    with suppress(BrokenPipeError), process:  # there may be something that it was not told any more
        pass
    return process.returncode


@atexit.register
def _end_spares() -> None:
    while _spares:
        _end(_spares.pop())
