"""Answers: the JSON of a value is what its type says."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.http.responses import JsonText, encode, moment, read_json
from leasehold.http.types import Listing, Page
from leasehold.job import Job, JobSummary, State

AT = datetime(2030, 1, 31, 8, 0, 0, 123456, tzinfo=UTC)
JOB = Job(
    job_id=UUID("0190a000-0000-7000-8000-00000000000a"),
    tenant_id=UUID("0190a000-0000-7000-8000-00000000000b"),
    kind="shop.refund",
    queue="default",
    priority=2,
    state=State.SUCCEEDED,
    attempt=1,
    max_attempts=5,
    error=None,
    progress=0.5,
    message="half",
    created_at=AT,
    run_at=AT,
    started_at=None,
    finished_at=None,
    expires_at=None,
    version=1,
    key=None,
    tags=["vip"],
    copied_from=None,
    traceparent=None,
    cancel_requested=False,
    group=None,
    gate=None,
    meta=None,
    payload={"order": 7},
    result=None,
)


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def test_a_field_that_the_declared_type_does_not_have_is_not_sent() -> None:
    told = json.loads(encode(JOB, JobSummary))
    assert told["job_id"] == str(JOB.job_id)
    assert not told.keys() & {"payload", "result"}
    page = json.loads(encode(Page(data=[JOB], next_cursor=None, has_more=False), Page[JobSummary]))
    assert not page["data"][0].keys() & {"payload", "result"}
    assert json.loads(encode(Listing(data=[JOB]), Listing[Job]))["data"][0]["payload"] == {"order": 7}


def test_times_and_enums_are_those_of_the_document() -> None:
    told = json.loads(encode(JOB))
    assert (told["created_at"], told["state"]) == (moment(AT), "succeeded")
    assert encode(AT.replace(microsecond=0)) == b'"2030-01-31T08:00:00Z"'


def test_a_value_of_another_type_than_declared_is_noticed() -> None:
    with pytest.warns(UserWarning, match="Unexpected"):
        encode(replace(JOB, attempt=timedelta(seconds=1)))  # type: ignore[arg-type]


@pytest.mark.parametrize("result", [{"a": 1}, nested(300), "\ud800", 10**400])
def test_long_json_of_the_database_goes_into_an_answer_as_it_is(result: Any) -> None:
    long = '{"order": 7, "note": "' + "x" * 70_000 + '", "n": 1e400}'
    payload = read_json(long)
    assert isinstance(payload, JsonText)
    body = encode(replace(JOB, payload=payload, result=result)).decode()
    assert f'"payload":{long},' in body
    assert json.loads(body)["result"] == result


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("inf"), "null"),
        ({"n": float("nan")}, '{"n":null}'),
        ("\ud800", '"\\ud800"'),
        (nested(300), "[" * 300 + '"deep"' + "]" * 300),
        ({"ü": "ß"}, '{"ü":"ß"}'),
        (None, "null"),
    ],
)
def test_what_postgresql_keeps_can_be_answered(value: Any, text: str) -> None:
    assert encode(value).decode() == text
    assert f'"payload":{text}' in encode(replace(JOB, payload=value)).decode()
