"""Endpoints and deliveries over HTTP."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from leasehold.http.app import Services, open_services
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, client_of, make_key, problem, settings_of

HOOK = {"url": "https://example.com/hook", "events": ["job.*", "order.paid"]}
TOKEN = "a token of the receiver"
LONG_AGO = "2020-01-01T00:00:00Z"


async def made(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    response = await client.post("/v1/webhooks", json=HOOK | more)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


async def sent_test(client: httpx.AsyncClient, endpoint: str) -> dict[str, Any]:
    """The delivery of a test, as the list shows it."""
    sent = await client.post(f"/v1/webhooks/{endpoint}/test")
    assert sent.status_code == 202, sent.text
    rows = (await client.get("/v1/deliveries")).json()["data"]
    [found] = [row for row in rows if row["delivery_id"] == sent.json()["delivery_id"]]
    return dict(found)


async def test_an_endpoint_from_its_making_to_its_removal(a: httpx.AsyncClient, cell: Cell, hand: Hand) -> None:
    response = await a.post("/v1/webhooks", json=HOOK | {"headers": {"Authorization": TOKEN}, "max_in_flight": 3})
    endpoint = response.json()["endpoint_id"]
    at = f"/v1/webhooks/{endpoint}"
    assert (response.status_code, response.headers["location"]) == (201, at)
    assert response.json()["secret"].startswith("whsec_")
    found = (await a.get(at)).json()
    assert (await a.get("/v1/webhooks")).json() == {"data": [found]}
    assert found == {name: value for name, value in response.json().items() if name != "secret"}
    assert {name: found[name] for name in HOOK} == HOOK
    assert (found["state"], found["headers"], found["secrets"]) == ("enabled", ["Authorization"], 1)
    assert (found["max_in_flight"], found["timeout_s"], found["disable_after_s"]) == (3, 15.0, 432_000.0)

    delivery = await sent_test(a, endpoint)
    assert (delivery["type"], delivery["state"], delivery["attempts"]) == ("endpoint.test", "pending", 0)
    await hand.deliver(cell.tenant_a, delivery, status=500, body="not now")
    attempts = f"/v1/deliveries/{delivery['delivery_id']}/attempts"
    [attempt] = (await a.get(attempts)).json()["data"]
    assert (attempt["n"], attempt["status"], attempt["response_body"]) == (1, 500, "not now")
    resent = await a.post(f"/v1/deliveries/{delivery['delivery_id']}/resend")
    assert (resent.status_code, resent.json()) == (202, {"delivery_id": delivery["delivery_id"]})

    paused = await a.post(f"{at}/pause", json={"reason": "the receiver moves"})
    assert (paused.status_code, paused.json()["state"], paused.json()["reason"]) == (
        200,
        "paused",
        "the receiver moves",
    )
    problem(await a.post(f"{at}/test"), 409, "conflict")
    problem(await a.post(f"/v1/deliveries/{delivery['delivery_id']}/resend"), 409, "conflict")
    resumed = await a.post(f"{at}/resume")
    assert (resumed.status_code, resumed.json()["state"], resumed.json()["reason"]) == (200, "enabled", None)

    gone = await a.delete(at)
    assert (gone.status_code, gone.content) == (204, b"")
    problem(await a.get(at), 404, "not_found")
    problem(await a.get(attempts), 404, "not_found")
    assert (await a.get("/v1/webhooks")).json() == {"data": []}


async def test_an_endpoint_is_shown_without_the_secrets_of_its_address(a: httpx.AsyncClient, cell: Cell) -> None:
    url, word = "https://hooks.slack.com/services/T000000AB/B000000CD/Jx8Zq2Wm4Lr6Tn9Vb3Kc5Hd7", "Jx8Zq2Wm4Lr6"
    shown = await made(a, url=url)
    assert shown["url"] == "https://hooks.slack.com/services/[redacted]"
    for path in ("/v1/webhooks", f"/v1/webhooks/{shown['endpoint_id']}", "/v1/audit"):
        assert word not in (await a.get(path)).text, path
    kept = await cell.look("select detail::text from leasehold.audit union all select url from leasehold.endpoint")
    assert [one["detail"] for one in kept if word in (one["detail"] or "")] == [url], "it has to be asked for"


async def test_what_failed_is_recovered(a: httpx.AsyncClient, cell: Cell, hand: Hand) -> None:
    endpoint = (await made(a))["endpoint_id"]
    await hand.deliver(cell.tenant_a, await sent_test(a, endpoint), status=500)
    recover = f"/v1/webhooks/{endpoint}/recover"
    assert (await a.post(recover, json={"since": "2100-01-01T00:00:00Z"})).json() == {"recovered": 0}
    assert (await a.post(recover, json={"since": LONG_AGO})).json() == {"recovered": 1}
    assert (await a.post(recover, json={"since": LONG_AGO})).json() == {"recovered": 0}
    problem(await a.post(recover, json={}), 422, "invalid")
    problem(await a.post(recover, json={"since": "yesterday"}), 422, "invalid")


async def test_a_disabled_endpoint_is_enabled_again(a: httpx.AsyncClient, cell: Cell, hand: Hand) -> None:
    endpoint = (await made(a))["endpoint_id"]
    await hand.deliver(cell.tenant_a, await sent_test(a, endpoint), status=410)
    at = f"/v1/webhooks/{endpoint}"
    found = (await a.get(at)).json()
    assert (found["state"], found["reason"]) == ("disabled", "it answered 410 Gone")
    problem(await a.post(f"{at}/recover", json={"since": LONG_AGO}), 409, "conflict")
    assert (await a.post(f"{at}/resume")).json()["state"] == "enabled"


async def test_a_secret_is_shown_once_and_in_no_other_answer(a: httpx.AsyncClient, cell: Cell, hand: Hand) -> None:
    made_ = await made(a, headers={"Authorization": TOKEN})
    at = f"/v1/webhooks/{made_['endpoint_id']}"
    rotated = await a.post(f"{at}/rotate", json={"overlap_s": 60})
    assert rotated.status_code == 200
    third = await a.post(f"{at}/rotate")
    secrets = {made_["secret"], rotated.json()["secret"], third.json()["secret"]}
    assert len(secrets) == 3
    delivery = await sent_test(a, made_["endpoint_id"])
    await hand.deliver(cell.tenant_a, delivery, status=500)
    answers = [
        await a.get("/v1/webhooks"),
        await a.get(at),
        await a.get("/v1/secrets"),
        await a.get("/v1/deliveries"),
        await a.get(f"/v1/deliveries/{delivery['delivery_id']}/attempts"),
        await a.post(f"{at}/pause"),
        await a.post(f"{at}/resume"),
        await a.get("/v1/audit"),
        await a.get("/v1/jobs"),
        await a.get(f"/v1/jobs/{delivery['job_id']}"),
    ]
    assert {answer.status_code for answer in answers} == {200}
    assert answers[1].json()["secrets"] == 3
    told = [thing for answer in answers for thing in {*secrets, TOKEN} if thing in answer.text]
    assert told == []


async def test_the_old_secret_signs_until_its_overlap_has_passed(a: httpx.AsyncClient, cell: Cell) -> None:
    at = f"/v1/webhooks/{(await made(a))['endpoint_id']}"
    await a.post(f"{at}/rotate", json={"overlap_s": 60})
    assert (await a.get(at)).json()["secrets"] == 2
    await cell.pass_time(61)
    assert (await a.get(at)).json()["secrets"] == 1
    await a.post(f"{at}/rotate", json={"overlap_s": 0})
    assert (await a.get(at)).json()["secrets"] == 1
    problem(await a.post(f"{at}/rotate", json={"overlap_s": -1}), 422, "invalid")


async def test_an_answer_that_holds_a_secret_is_not_kept(a: httpx.AsyncClient) -> None:
    once = {"Idempotency-Key": "k"}
    problem(await a.post("/v1/webhooks", json=HOOK, headers=once), 400, "bad_request")
    assert (await a.get("/v1/webhooks")).json() == {"data": []}
    at = f"/v1/webhooks/{(await made(a))['endpoint_id']}"
    problem(await a.post(f"{at}/rotate", headers=once), 400, "bad_request")
    assert (await a.get(at)).json()["secrets"] == 1


async def test_the_same_key_sends_one_test(a: httpx.AsyncClient) -> None:
    at = f"/v1/webhooks/{(await made(a))['endpoint_id']}"
    once = {"Idempotency-Key": "k"}
    first, again = [await a.post(f"{at}/test", headers=once) for _ in range(2)]
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert len((await a.get("/v1/deliveries")).json()["data"]) == 1


async def test_deliveries_are_filtered_and_paged(a: httpx.AsyncClient, cell: Cell, hand: Hand) -> None:
    one, two = [(await made(a))["endpoint_id"] for _ in range(2)]
    sent = [await sent_test(a, endpoint) for endpoint in (one, one, one, two)]
    await hand.deliver(cell.tenant_a, sent[0], status=204)

    async def ids(**filters: Any) -> list[str]:
        found = await a.get("/v1/deliveries", params=filters)
        assert found.status_code == 200, found.text
        return [row["delivery_id"] for row in found.json()["data"]]

    newest_first = [delivery["delivery_id"] for delivery in reversed(sent)]
    assert await ids() == newest_first
    assert await ids(endpoint_id=two) == newest_first[:1]
    assert await ids(state="delivered") == newest_first[3:]
    assert await ids(endpoint_id=one, state="pending") == newest_first[1:3]
    assert await ids(endpoint_id=str(uuid4())) == []
    page = await a.get("/v1/deliveries", params={"endpoint_id": one, "limit": 2})
    assert (page.json()["has_more"], [row["delivery_id"] for row in page.json()["data"]]) == (True, newest_first[1:3])
    rest = (await a.get(page.links["next"]["url"])).json()
    assert [row["delivery_id"] for row in rest["data"]] == newest_first[3:]
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)
    for wrong in ({"state": "lost"}, {"endpoint_id": "1"}, {"limit": 201}, {"cursor": "x"}, {"endpoint": one}):
        problem(await a.get("/v1/deliveries", params=wrong), 400, "bad_parameter")


async def test_another_tenant_finds_nothing(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    endpoint = (await made(a))["endpoint_id"]
    delivery = (await sent_test(a, endpoint))["delivery_id"]
    at, sent = f"/v1/webhooks/{endpoint}", f"/v1/deliveries/{delivery}"
    for answer in (
        await b.get(at),
        await b.post(f"{at}/resume"),
        await b.post(f"{at}/pause"),
        await b.post(f"{at}/rotate"),
        await b.post(f"{at}/test"),
        await b.post(f"{at}/recover", json={"since": LONG_AGO}),
        await b.delete(at),
        await b.get(f"{sent}/attempts"),
        await b.post(f"{sent}/resend"),
    ):
        problem(answer, 404, "not_found")
    for listed in ("/v1/webhooks", "/v1/deliveries", f"/v1/deliveries?endpoint_id={endpoint}"):
        assert (await b.get(listed)).json()["data"] == []
    found = (await a.get(at)).json()
    assert (found["state"], found["secrets"]) == ("enabled", 1)


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.3/hook",
        "http://169.254.169.254/latest/meta-data",
        "https://192.168.0.1/hook",
        "https://[fd00::1]/hook",
        "http://example.com/hook",  # in the clear
        "https://example.com:22/hook",
        "https://ada:password@example.com/hook",
        "https://",
    ],
)
async def test_a_url_that_must_not_be_called_is_refused_and_nothing_is_told(a: httpx.AsyncClient, url: str) -> None:
    refused = await a.post("/v1/webhooks", json=HOOK | {"url": url})
    problem(refused, 422, "invalid")
    for leak in ("private", "link-local", "metadata", "is 10.", "password@"):
        assert leak not in refused.text.replace("meta-data", "")
    assert (await a.get("/v1/webhooks")).json() == {"data": []}


@pytest.mark.parametrize(
    "more",
    [
        {"url": "ftp://example.com/"},
        {"url": None},
        {"events": []},
        {"events": ["Job Dead"]},
        {"events": "job.*"},
        {"format": "slack"},
        {"header_names": {"id": "X-Id"}},
        {"header_names": {"signature": "a b"}},
        {"headers": {"a b": "x"}},
        {"headers": {"X-A": "x\r\nX-B: y"}},
        {"headers": {"Host": "other"}},
        {"headers": {"webhook-signature": "v1,x"}},
        {"max_in_flight": 0},
        {"max_in_flight": 1.5},
        {"timeout_s": 61},
        {"disable_after_s": 3599},
        {"disable_after_s": 31_104_001},
        {"secret": "whsec_mine"},
    ],
    ids=str,
)
async def test_an_endpoint_that_cannot_be_is_refused(a: httpx.AsyncClient, more: dict[str, Any]) -> None:
    problem(await a.post("/v1/webhooks", json=HOOK | more), 422, "invalid")
    assert (await a.get("/v1/webhooks")).json() == {"data": []}


async def test_what_may_be_at_most_is_taken(a: httpx.AsyncClient) -> None:
    most = {"max_in_flight": 100, "timeout_s": 60, "disable_after_s": 31_104_000}
    headers = {f"X-{number}": "x" * 2000 for number in range(20)}
    found = await made(a, **most, headers=headers, format="sha256", header_names={"signature": "X-Shop-Signature"})
    assert {name: found[name] for name in most} == most
    assert (found["format"], found["header_names"]) == ("sha256", {"signature": "X-Shop-Signature"})
    assert found["headers"] == sorted(headers)


async def test_the_audit_log_names_the_key(a: httpx.AsyncClient, key: Keys) -> None:
    at = f"/v1/webhooks/{(await made(a))['endpoint_id']}"
    delivery = await sent_test(a, at.rpartition("/")[2])
    await a.post(f"/v1/deliveries/{delivery['delivery_id']}/resend")
    await a.post(f"{at}/rotate")
    await a.post(f"{at}/pause")
    await a.post(f"{at}/resume")
    await a.post(f"{at}/recover", json={"since": LONG_AGO})
    await a.delete(at)
    entries = (await a.get("/v1/audit")).json()["data"]
    done = [entry for entry in entries if entry["action"].startswith(("endpoint.", "delivery."))]
    assert [entry["action"] for entry in reversed(done)] == [
        "endpoint.create",
        "delivery.resend",
        "endpoint.rotate",
        "endpoint.pause",
        "endpoint.resume",
        "endpoint.recover",
        "endpoint.remove",
    ]
    assert {entry["actor"] for entry in done} == {f"key:{key.a.key_id}"}


async def test_a_key_that_only_reads_sees_deliveries_and_changes_nothing(
    a: httpx.AsyncClient, cell: Cell, services: Services
) -> None:
    endpoint = (await made(a))["endpoint_id"]
    delivery = (await sent_test(a, endpoint))["delivery_id"]
    at = f"/v1/webhooks/{endpoint}"
    async with client_of(services, await make_key(cell, cell.tenant_a, scopes=["jobs:read"])) as reader:
        for read in ("/v1/deliveries", f"/v1/deliveries/{delivery}/attempts"):
            assert (await reader.get(read)).status_code == 200
        for read in ("/v1/webhooks", at):
            problem(await reader.get(read), 403, "forbidden")
        for write in ("pause", "resume", "rotate", "test"):
            problem(await reader.post(f"{at}/{write}"), 403, "forbidden")
        problem(await reader.post("/v1/webhooks", json=HOOK), 403, "forbidden")
        problem(await reader.post(f"{at}/recover", json={"since": LONG_AGO}), 403, "forbidden")
        problem(await reader.post(f"/v1/deliveries/{delivery}/resend"), 403, "forbidden")
        problem(await reader.delete(at), 403, "forbidden")


async def test_a_server_without_keys_says_so_and_serves_the_rest(a: httpx.AsyncClient, cell: Cell, key: Keys) -> None:
    at = f"/v1/webhooks/{(await made(a))['endpoint_id']}"
    settings = settings_of(cell, secret_keys=None)
    async with open_services(settings, loopback=True) as services, client_of(services, key.a) as client:
        for refused in (await client.post("/v1/webhooks", json=HOOK), await client.post(f"{at}/rotate")):
            assert "LEASEHOLD_SECRET_KEYS" in problem(refused, 503, "unavailable")["detail"]
        assert len((await client.get("/v1/webhooks")).json()["data"]) == 1
        assert (await client.post(f"{at}/test")).status_code == 202
        assert (await client.delete(at)).status_code == 204


async def test_a_setting_that_is_wrong_is_not_the_callers_fault_nor_business(cell: Cell, key: Keys) -> None:
    settings = settings_of(cell, fetch_allow="files.internal:8080,a b")
    async with open_services(settings, loopback=True) as services, client_of(services, key.a) as client:
        refused = await client.post("/v1/webhooks", json=HOOK)
    problem(refused, 503, "unavailable")
    assert "a b" not in refused.text
