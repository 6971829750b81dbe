"""The ways that are compared, and where an option does not mean the same: it is refused, or the job differs in what
stands here. Each with the reason."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.options import ways
from tests.options.cases import Case

PYTHON = [
    ways.alone, ways.many, ways.grouped, ways.in_a_transaction, ways.in_a_sync_transaction, ways.sync_alone,
    ways.by_the_client, ways.by_a_pack, ways.by_ctx, ways.by_sync_ctx, ways.by_isolated_ctx, ways.in_ctx_transaction,
]  # fmt: skip
HTTP = [ways.http, ways.http_once, ways.http_batch, ways.http_batch_each, ways.remote, ways.remote_batch]
STEPS = [ways.step_of_a_flow, ways.step_in_a_transaction, ways.step_by_the_client, ways.step_over_http]
SCHEDULES = [ways.schedule, ways.schedule_over_http, ways.declared_schedule]
WAYS = [ways.sql, ways.sql_for_many_tenants, *PYTHON, *HTTP, ways.by_the_command_line, *STEPS, *SCHEDULES, ways.copy]

REFUSED = "refused"


class Expected(NamedTuple):
    what: str | Mapping[str, Any]  # refused, or what differs in the job
    why: str


_OF_A_STEP = {
    "key_window_s": Expected(REFUSED, "a flow makes each of its steps: no step is a job that was there before"),
    "unique": Expected(REFUSED, "the same: a step that is another's job could not wait for its parents"),
    "on_duplicate": Expected(REFUSED, "only with unique"),
    "copied_from": Expected(REFUSED, "a step is no copy of a job"),
}
_OF_A_SCHEDULE = {
    "run_at": Expected(REFUSED, "its ticks say when"),
    "expires_at": Expected(REFUSED, "one moment for all of its jobs is ends_at"),
    "key_window_s": Expected(REFUSED, "its jobs have no keys: a tick fires once"),
    "unique": Expected(REFUSED, "overlap says what a tick does while the last job has not ended"),
    "on_duplicate": Expected(REFUSED, "only with unique"),
    "copied_from": Expected(REFUSED, "no tick makes a copy"),
    "traceparent": Expected(REFUSED, "no tick belongs to the trace of whoever made the schedule"),
}
_AT_ONCE = {"state": "queued", "starts_in_1000_s": 0}
_OF_A_COPY = {
    "delay_s": Expected(_AT_ONCE, "a person asks for the copy now"),
    "run_at": Expected(_AT_ONCE, "the same"),
    "key_window_s": Expected({"key": None, "key_window_s": None}, "the key names the first job"),
    "copied_from": Expected({"copied_from": None}, "it names the job that was copied; the way takes it away"),
    "traceparent": Expected({"traceparent": None}, "the trace is that of whoever asked for the first job"),
}

EXPECTED: dict[ways.Way, Mapping[str, Expected]] = {
    ways.sql_for_many_tenants: {"key_window_s": Expected(REFUSED, "an enqueue with keys is for one tenant")},
    **dict.fromkeys(STEPS, _OF_A_STEP),
    **dict.fromkeys(SCHEDULES, _OF_A_SCHEDULE),
    ways.copy: _OF_A_COPY,
}


def wanted_of(way: ways.Way, case: Case, wanted: Any) -> Any:
    """What the case's job must be like this way."""
    expected = EXPECTED.get(way, {}).get(case.option)
    if expected is None or wanted == REFUSED:
        return wanted
    return expected.what if isinstance(expected.what, str) else wanted | dict(expected.what)
