"""The application in AWS Lambda: real events of API Gateway (payload format 2.0), one process, no server."""

import json
import sys
from typing import Any

from tests.cell import Cell
from tests.cli.program import leasehold
from tests.http.conftest import PEPPER, Keys

PROGRAM = """
import json, sys
from leasehold.aws_lambda import lambda_handler

for event in json.loads(sys.argv[1]):
    print(json.dumps(lambda_handler(event, None)))
"""


def event(method: str, path: str, *, body: Any = None, query: str = "", **headers: str) -> dict[str, Any]:
    """As https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "abc.execute-api.eu-central-1.amazonaws.com", **headers},
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abc",
            "domainName": "abc.execute-api.eu-central-1.amazonaws.com",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "test",
            },
            "requestId": "id",
            "stage": "$default",
            "time": "12/Mar/2026:19:03:58 +0000",
            "timeEpoch": 1773342238000,
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


async def test_events_of_api_gateway_are_answered_one_after_the_other(cell: Cell, key: Keys) -> None:
    authorized = {"authorization": f"Bearer {key.a.text}"}
    job = {"kind": "t.work", "payload": {"n": 1}, "key": "k"}
    sent = {"content-type": "application/json", "idempotency-key": "once", **authorized}
    events = [
        event("GET", "/readyz"),
        event("POST", "/v1/jobs", body=job, **sent),
        event("POST", "/v1/jobs", body=job, **sent),
        event("GET", "/v1/jobs", query="limit=1&kind=t.work", **authorized),
        event("GET", "/v1/events", accept="text/event-stream", **authorized),
        event("GET", "/v1/jobs"),
        event("GET", "/v1/nothing", **authorized),
    ]
    env = cell.environment() | {"LEASEHOLD_KEY_PEPPER": PEPPER}
    said = leasehold(json.dumps(events), env=env, command=(sys.executable, "-c", PROGRAM))
    assert said.code == 0, said.err
    ready, made, again, listed, overview, stranger, nothing = (json.loads(line) for line in said.out.splitlines())
    assert (ready["statusCode"], json.loads(ready["body"])["status"]) == (200, "ready"), ready["body"]
    assert made["statusCode"] == 202
    job_id = json.loads(made["body"])["job_id"]
    assert made["headers"]["location"] == f"/v1/jobs/{job_id}"
    assert (again["body"], again["headers"]["idempotent-replayed"]) == (made["body"], "true")
    assert [one["job_id"] for one in json.loads(listed["body"])["data"]] == [job_id]
    assert [one["job_id"] for one in json.loads(overview["body"])["data"]] == [job_id]
    for refused, status in ((stranger, 401), (nothing, 404)):
        assert (refused["statusCode"], refused["headers"]["content-type"]) == (status, "application/problem+json")
