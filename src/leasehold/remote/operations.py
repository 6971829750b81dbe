"""What the clients ask for: one function for each operation, without a connection. Both clients send the same."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from leasehold import json_codec
from leasehold.errors import BadInput
from leasehold.job import Attempt, ClaimedJob, Enqueued, Event, Job, Queue, Reason, State
from leasehold.job_options import plain
from leasehold.json_codec import plain_options
from leasehold.remote import values
from leasehold.remote.connection import Call, of_item, path
from leasehold.remote.values import Refused, Schedule


def enqueue(kind: str, payload: object, key: str | None, options: Mapping[str, Any], *, force: bool) -> Call[Enqueued]:
    body = _job(kind, payload, key, {**options, "force": True} if force else options)
    # A job that has a key of its own is made once, however often it is asked for.
    headers = {} if key is not None else _once()
    return Call(method="POST", path=path("jobs"), json=body, headers=headers, read=_enqueued)


def batch(jobs: Sequence[Mapping[str, Any]], *, atomic: bool) -> Call[list[Enqueued | Refused]]:
    bodies = [_described(one) for one in jobs]
    return Call(
        method="POST",
        path="/v1/jobs:batch",
        params={} if atomic else {"atomic": "false"},
        json={"jobs": bodies},
        headers=_once(),
        read=lambda found: [_enqueued_or_refused(one) for one in found["data"]],
    )


def get(job_id: UUID | str) -> Call[Job]:
    return Call(method="GET", path=path("jobs", job_id), read=values.job)


def result(job_id: UUID | str) -> Call[Any]:
    return Call(method="GET", path=path("jobs", job_id, "result"), read=lambda found: found)


def attempts(job_id: UUID | str) -> Call[list[Attempt]]:
    return Call(
        method="GET", path=path("jobs", job_id, "attempts"), read=lambda found: [*map(values.attempt, found["data"])]
    )


def explain(job_id: UUID | str) -> Call[list[Reason]]:
    return Call(
        method="GET",
        path=path("jobs", job_id, "explain"),
        read=lambda found: [values.read(Reason, one) for one in found["reasons"]],
    )


def page_of_jobs(filters: Mapping[str, Any], cursor: str | None) -> Call[tuple[list[Job], str | None]]:
    params = {"limit": 200, **filters, "cursor": cursor}
    return Call(
        method="GET",
        path=path("jobs"),
        params=params,
        read=lambda found: ([*map(values.job, found["data"])], found["next_cursor"]),
    )


def page_of_events(job_id: UUID | str, after: int) -> Call[tuple[list[Event], bool]]:
    return Call(
        method="GET",
        path=path("jobs", job_id, "events"),
        params={"after": after, "limit": 200},
        read=lambda found: ([*map(values.event, found["data"])], found["has_more"]),
    )


def cancel(job_id: UUID | str, reason: str | None) -> Call[State]:
    return _move(job_id, "cancel", plain_options({"reason": reason}))


def retry(job_id: UUID | str, run_at: datetime | None) -> Call[State]:
    return _move(job_id, "retry", plain_options({"run_at": run_at}))


def reschedule(job_id: UUID | str, run_at: datetime) -> Call[State]:
    return _move(job_id, "reschedule", plain_options({"run_at": run_at}))


def queues() -> Call[list[Queue]]:
    return Call(
        method="GET", path=path("queues"), read=lambda found: [values.read(Queue, one) for one in found["data"]]
    )


def page_of_schedules(cursor: str | None) -> Call[tuple[list[Schedule], str | None]]:
    return Call(
        method="GET",
        path=path("schedules"),
        params={"limit": 200, "cursor": cursor},
        read=lambda found: ([values.read(Schedule, one) for one in found["data"]], found["next_cursor"]),
    )


def put_schedule(name: str, kind: str, value: Any, options: Mapping[str, Any]) -> Call[Schedule]:
    body = {"kind": kind, "payload": {} if value is None else value, **plain_options(options)}
    return Call(method="PUT", path=path("schedules", name), json=body, read=_schedule)


def get_schedule(name: str) -> Call[Schedule]:
    return Call(method="GET", path=path("schedules", name), read=_schedule)


def delete_schedule(name: str) -> Call[None]:
    return Call(method="DELETE", path=path("schedules", name), read=lambda _: None)


# -- for workers ----------------------------------------------------------------------------------------------------


def register(body: Mapping[str, Any]) -> Call[dict[str, Any]]:
    return Call(method="POST", path=path("workers"), json=plain_options(body), read=dict)


def claim(worker: str, n: int, held: Sequence[int], wait_s: float) -> Call[list[ClaimedJob]]:
    return Call(
        method="POST",
        path=path("workers", worker, "claim"),
        json={"n": n, "held": [*map(str, held)], "wait_s": wait_s},
        timeout=wait_s + 30.0,
        read=lambda found: [*map(values.grant, found["data"])],
    )


def beat(worker: str, held: Sequence[int], timeout: float) -> Call[tuple[set[int], set[int]]]:
    return Call(
        method="POST",
        path=path("workers", worker, "beat"),
        json={"held": [*map(str, held)]},
        timeout=timeout,
        read=lambda found: ({*map(int, found["cancel"])}, {*map(int, found["lost"])}),
    )


def finish(worker: str, ended: Sequence[Mapping[str, Any]]) -> Call[list[dict[str, Any]]]:
    return Call(
        method="POST",
        path=path("workers", worker, "finish"),
        json={"ended": list(ended)},
        read=lambda found: list(found["data"]),
    )


def say(worker: str, said: Mapping[str, Any]) -> Call[None]:
    """Raises what became of it, unless it was accepted."""

    def read(found: Any) -> None:
        [item] = found["data"]
        if item["status"] != 200:
            raise of_item(item)

    return Call(method="POST", path=path("workers", worker, "events"), json={"said": [plain_options(said)]}, read=read)


def extend(worker: str, token: int, seconds: float) -> Call[datetime]:
    return Call(
        method="POST",
        path=path("workers", worker, "extend"),
        json={"token": str(token), "seconds": seconds},
        read=lambda found: datetime.fromisoformat(found["deadline"]),
    )


def stop(worker: str) -> Call[int]:
    return Call(method="POST", path=path("workers", worker, "stop"), read=lambda found: int(found["released"]))


def _move(job_id: UUID | str, what: str, body: Mapping[str, Any]) -> Call[State]:
    return Call(
        method="POST",
        path=path("jobs", job_id, what),
        json=dict(body),
        headers=_once(),
        read=lambda found: State(found["state"]),
    )


def _job(kind: str, value: Any, key: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    body = {"kind": kind, "payload": {} if value is None else value, **plain({"key": key, **options})}
    json_codec.encode(body)  # says what is wrong with it, before a server does
    return body


def _described(one: Mapping[str, Any]) -> dict[str, Any]:
    rest = dict(one)
    if "kind" not in rest:
        raise BadInput("a job of a batch has a kind", hint='{"kind": "shop.mail", "payload": {…}, "key": …}')
    return _job(rest.pop("kind"), rest.pop("payload", None), rest.pop("key", None), rest)


def _enqueued(found: Any) -> Enqueued:
    return Enqueued(UUID(found["job_id"]), State(found["state"]), found["created"])


def _enqueued_or_refused(found: Any) -> Enqueued | Refused:
    return Refused(error=of_item(found)) if found.get("code") else _enqueued(found)


def _schedule(found: Any) -> Schedule:
    return values.read(Schedule, found)


def _once() -> dict[str, str]:
    """So that a request whose answer was lost can be sent again, and is done once."""
    return {"Idempotency-Key": uuid4().hex}
