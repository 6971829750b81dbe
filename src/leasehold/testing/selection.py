"""Which jobs fit what a test asks for, and the words when they do not. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from leasehold import json_codec
from leasehold.job import Job

_MOST_LINES = 20
_MOST_CHARACTERS = 200


def fitting(jobs: Sequence[Job], kind: str, subset: Any) -> list[Job]:
    """The jobs of this kind whose payload holds at least this."""
    wanted = None if subset is None else plain(subset)
    return [job for job in jobs if job.kind == kind and (wanted is None or contains(job.payload, wanted))]


def plain(value: Any) -> Any:
    """A payload as JSON has it: models and dataclasses become mappings."""
    return TypeAdapter(Any).dump_python(value, mode="json")


def contains(whole: Any, part: Any) -> bool:
    """Whether every field of ``part`` is in ``whole`` with the same value, at any depth."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(name in whole and contains(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        same = isinstance(whole, list) and len(whole) == len(part)
        return same and all(contains(one, other) for one, other in zip(whole, part, strict=True))
    return bool(whole == part)


def words(found: Sequence[Job], everything: Sequence[Job], kind: str, subset: Any, *, wanted: int | None) -> str:
    """What was expected, what there is."""
    number = "at least one" if wanted is None else "no" if wanted == 0 else str(wanted)
    asked = (
        f"{kind} job" + ("" if wanted in (None, 0, 1) else "s") + (f" with {subset!r}" if subset is not None else "")
    )
    there = [_line(job) for job in everything[:_MOST_LINES]]
    if len(everything) > _MOST_LINES:
        there.append(f"… and {len(everything) - _MOST_LINES} more")
    listing = "\n".join(f"  {line}" for line in there) or "  nothing"
    return f"expected {number} {asked}, found {len(found)}; enqueued are:\n{listing}"


def _line(job: Job) -> str:
    text = json_codec.encode(job.payload)
    cut = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
    return f"{job.kind} {cut} ({job.state}, queue {job.queue})"
