"""Webhooks, with real receivers on loopback and a real worker."""

import asyncio
import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.errors import BadInput, Conflict, FetchRefused, NotFound
from leasehold.features.webhooks import store as webhooks
from leasehold.features.webhooks.handlers import SCHEDULE, delay_s
from leasehold.features.webhooks.signature import PLAIN, STANDARD, TIMESTAMPED, Scheme
from leasehold.webhooks import BadSignature, verify
from tests.cell import Cell
from tests.features.secrets.dump import dump
from tests.features.secrets.test_store import hidden
from tests.features.webhooks.hooks import KEYS, Receiver, always, hooks_to, receiving, working
from tests.fetch.world import moved, page, serving
from tests.waiting import eventually


async def test_an_event_reaches_its_receiver_signed(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        _, secret = await hooks.add(receiver)
        [event_id] = await hooks.emit()
        [delivery] = await hooks.settled()
        [(headers, body)] = receiver.got
    verify(body, headers, secret)
    with pytest.raises(BadSignature):
        verify(body + b" ", headers, secret)
    event = json.loads(body)
    assert headers["webhook-id"] == event_id
    assert headers["content-type"] == "application/json"
    assert datetime.fromisoformat(event.pop("occurred_at")).tzinfo
    assert event == {
        "id": event_id, "type": "order.paid", "api_version": "1", "tenant": str(cell.tenant_a),
        "subject_type": "order", "subject_id": "0", "data": {"n": 0},
    }  # fmt: skip
    assert (delivery.state, delivery.attempts, delivery.status) == ("delivered", 1, 204)


@pytest.mark.parametrize(
    ("format_", "names", "scheme"),
    [
        ("standard", {}, STANDARD),
        ("stripe", {}, TIMESTAMPED),
        ("stripe", {"signature": "X-Shop-Signature"}, replace(TIMESTAMPED, signature="X-Shop-Signature")),
        ("sha256", {"message_id": "X-Shop-Id"}, replace(PLAIN, message_id="X-Shop-Id")),
    ],
)
async def test_receivers_that_know_another_format_get_it(
    cell: Cell, format_: str, names: dict[str, str], scheme: Scheme
) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        _, secret = await hooks.add(receiver, format_=format_, header_names=names)
        await hooks.emit()
        await hooks.settled()
    verify(receiver.got[0][1], receiver.got[0][0], secret, scheme=scheme)


async def test_what_is_rolled_back_is_not_told(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver)
        with pytest.raises(RuntimeError, match="no"):
            async with hooks.scope() as tx:
                await webhooks.emit_event(
                    tx, cell.tenant_a, "order.paid", subject_type="order", subject_id="1", data={}
                )
                raise RuntimeError("no")
        assert await hooks.deliveries() == []
        assert await cell.look("select * from leasehold.job") == []


async def test_an_endpoint_gets_the_events_that_it_wants(cell: Cell) -> None:
    async with (
        receiving() as some,
        receiving() as all_,
        hooks_to(cell, some, all_) as hooks,
        working(cell, hooks.settings),
    ):
        await hooks.add(some, "order.paid", "mail.*")
        await hooks.add(all_, "*")
        for type_ in ("order.paid", "order.canceled", "mail.sent.twice", "mailing.sent"):
            await hooks.emit(type_=type_)
        await hooks.settled()
    assert sorted(event["type"] for event in some.events) == ["mail.sent.twice", "order.paid"]
    assert len(all_.events) == 4


# -- receivers with faults ------------------------------------------------------------------------------------------


async def test_a_receiver_that_fails_stalls_restarts_and_drops_gets_every_event(cell: Cell) -> None:
    def badly(n: int) -> bytes | None:
        if n % 3 == 0:
            return b""  # drops the connection
        if n % 7 == 0:
            return page(b"oops", status="500 Broken")
        return None if n % 11 == 0 else page(b"")

    receiver = Receiver(badly)
    async with serving(receiver) as receiver.port, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        _, secret = await hooks.add(receiver)
        sent = await hooks.emit(15)
        await receiver.wait_for(5)
    port = receiver.port  # it is down, and comes back
    async with hooks_to(cell, receiver) as hooks:
        sent += await hooks.emit(5)
        server = await asyncio.start_server(receiver_again(receiver), "127.0.0.1", port)
        async with server, working(cell, hooks.settings):
            deliveries = await hooks.settled(hurry=True)
    assert {delivery.state for delivery in deliveries} == {"delivered"}
    assert set(receiver.accepted) == set(sent)
    assert set(receiver.counts) == set(sent)
    assert len(receiver.got) > len(sent)
    stamps: dict[str, set[str]] = {}
    for headers, body in receiver.got:
        verify(body, headers, secret, tolerance=3600)
        assert headers["webhook-id"] == json.loads(body)["id"]
        stamps.setdefault(headers["webhook-id"], set()).add(body.decode())
    assert {len(bodies) for bodies in stamps.values()} == {1}  # a duplicate is the same to the byte


def receiver_again(receiver: Receiver) -> Any:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await receiver(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    return handle


async def test_a_redirect_is_a_failure(cell: Cell) -> None:
    async with receiving() as elsewhere, receiving() as receiver, hooks_to(cell, receiver, elsewhere) as hooks:
        receiver.answer = lambda n: moved(elsewhere.url)
        async with working(cell, hooks.settings):
            await hooks.add(receiver)
            await hooks.emit()
            await hooks.attempted()
            [delivery] = await hooks.deliveries()
    assert (delivery.state, delivery.status, elsewhere.got) == ("pending", 302, [])


async def test_after_the_last_attempt_it_has_failed(cell: Cell) -> None:
    receiver = Receiver(always("503 Away"))
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver)
        await hooks.emit()
        [delivery] = await hooks.settled(hurry=True)
    assert (delivery.state, delivery.attempts, delivery.reason) == ("failed", 10, "answered 503")
    assert len(receiver.got) == 10
    [job] = await cell.look(f"select state from leasehold.outcome where job_id = '{delivery.job_id}'")
    assert job["state"] == "dead"


async def test_gone_is_gone(cell: Cell) -> None:
    async with receiving() as receiver, receiving() as other, hooks_to(cell, receiver, other) as hooks:
        receiver.answer = always("410 Gone")
        endpoint, _ = await hooks.add(receiver, "order.*")
        await hooks.add(other, "endpoint.*")
        await hooks.emit(3)
        async with working(cell, hooks.settings):
            await other.wait_for(1)
            deliveries = await hooks.settled(hurry=True)
            found = await hooks.endpoint(endpoint)
            await hooks.emit()
        assert len(await hooks.deliveries(endpoint=endpoint)) == 3  # none for the event after it
    assert (found.state, found.reason) == ("disabled", "it answered 410 Gone")
    assert [one.state for one in deliveries if one.endpoint_id == endpoint] == ["failed"] * 3
    assert len(receiver.got) <= 3
    [told] = other.events
    assert (told["type"], told["data"]["reason"]) == ("endpoint.disabled", "it answered 410 Gone")


async def test_days_of_nothing_but_failures_disable_an_endpoint(cell: Cell) -> None:
    async with receiving(Receiver(always("500 Broken"))) as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        await hooks.emit()
        async with working(cell, hooks.settings):
            await hooks.attempted()
        await cell.pass_time(timedelta(days=4.9).total_seconds())
        async with working(cell, hooks.settings):
            await hooks.hurry()
            await hooks.attempted(2)
        assert (await hooks.endpoint(endpoint)).state == "enabled"
        await cell.pass_time(timedelta(days=0.2).total_seconds())
        async with working(cell, hooks.settings):
            [delivery] = await hooks.settled(hurry=True)
        found = await hooks.endpoint(endpoint)
    assert delivery.state == "failed"
    assert found.state == "disabled"
    assert (found.reason or "").startswith("nothing but failures since 20")


async def test_one_success_ends_the_window(cell: Cell) -> None:
    receiver = Receiver(lambda n: page(b"", status="200 OK" if n == 2 else "500 No"))
    async with receiving(receiver), hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        await hooks.emit()
        async with working(cell, hooks.settings):
            await hooks.settled(hurry=True)
        assert (await hooks.endpoint(endpoint)).failing_since is None
        await cell.pass_time(timedelta(days=6).total_seconds())
        await hooks.emit()
        async with working(cell, hooks.settings):
            await receiver.wait_for(3)
        assert (await hooks.endpoint(endpoint)).state == "enabled"


async def test_no_more_are_under_way_to_an_endpoint_than_may_be(cell: Cell) -> None:
    """One at a time until it has answered, then two."""
    receiver = Receiver()
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver, max_in_flight=2, timeout_s=60.0)
        await hooks.emit()
        await hooks.settled()
        receiver.answer = lambda n: None
        await hooks.emit(10)
        await receiver.wait_for(3)
        await waiting(cell, 8)
        assert receiver.most == 2
        await hooks.hurry()
        await waiting(cell, 8)
        assert receiver.most == 2


async def test_an_endpoint_that_is_new_gets_one_at_a_time(cell: Cell) -> None:
    receiver = Receiver(lambda n: None)
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver, timeout_s=60.0)
        await hooks.emit(5)
        await waiting(cell, 4)
    assert receiver.most == 1


async def waiting(cell: Cell, n: int) -> None:
    async def ask() -> bool:
        [found] = await cell.look("select count(*) from leasehold.deferred where why = 'snoozed'")
        return bool(found["count"] == n)

    await eventually(ask, what=f"{n} that come back later")


async def test_those_who_find_it_busy_come_back_one_after_the_other(cell: Cell) -> None:
    receiver = Receiver(lambda n: None)
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver, max_in_flight=1, timeout_s=60.0)
        await cell.change("update leasehold.endpoint set mean_ms = 10000")
        await hooks.emit(4)
        await waiting(cell, 3)
        moments = await cell.look("select extract(epoch from run_at - leasehold.now()) as s from leasehold.deferred")
    assert [round(row["s"] / 10) for row in sorted(moments, key=lambda row: row["s"])] == [1, 2, 3]


@pytest.mark.long
async def test_a_receiver_that_hangs_slows_nobody_else(cell: Cell) -> None:
    """Fewer slots than deliveries to the one that hangs: it gets one at a time, and then it rests."""
    hanging, quick = Receiver(lambda n: None), Receiver()
    async with receiving(hanging), receiving(quick), hooks_to(cell, hanging, quick) as hooks:
        slow, _ = await hooks.add(hanging, "slow.*")
        await hooks.add(quick, "quick.*")
        await hooks.emit(30, "slow.one")
        async with working(cell, replace(hooks.settings, slots=4)):
            await hanging.wait_for(1)
            sent = await hooks.emit(20, "quick.one")
            await quick.wait_for(20)
            assert hanging.most == 1
            assert sorted(quick.accepted) == sorted(sent)
            assert len(await hooks.deliveries(endpoint=slow, state="pending")) == 30


@pytest.mark.parametrize(
    ("attempt", "asked", "least", "most"),
    [
        (1, None, 4, 6),  # a fifth more or less
        (2, None, 240, 360),
        (9, None, 69_120, 103_680),
        (1, 1.0, 5, 5),  # never sooner than we would have come
        (1, 7.0, 7, 7),
        (1, 9999.0, 10, 10),  # nor later than twice as long
    ],
)
def test_delays(attempt: int, asked: float | None, least: float, most: float) -> None:
    assert least <= delay_s(attempt, asked) <= most
    assert 2.5 < sum(SCHEDULE) / 86_400 < 3.5


async def test_a_receiver_that_asks_for_time_gets_it_for_all_its_deliveries(cell: Cell) -> None:
    receiver = Receiver(always("429 Many", b"", "Retry-After: 600"))
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        endpoint, _ = await hooks.add(receiver, max_in_flight=1)

        async def resting_until() -> datetime | None:
            return (await hooks.endpoint(endpoint)).resting_until

        await hooks.emit()
        until = await eventually(resting_until, what="a receiver that is left alone")
        asked = len(receiver.got)  # once, or twice if its first answer came too late
        await hooks.emit()
        await waiting(cell, 1)
    assert until
    assert 500 < (until - datetime.now(UTC)).total_seconds() <= 600
    assert len(receiver.got) == asked


# -- secrets --------------------------------------------------------------------------------------------------------


async def test_old_and_new_secrets_sign_until_the_old_ones_have_expired(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, old = await hooks.add(receiver)
        new = await hooks.rotate(endpoint)
        await hooks.emit()
        async with working(cell, hooks.settings):
            await receiver.wait_for(1)
        assert (await hooks.endpoint(endpoint)).secrets == 2
        await cell.pass_time(24 * 3600 + 1)
        await hooks.emit()
        async with working(cell, hooks.settings):
            await receiver.wait_for(2)
        assert (await hooks.endpoint(endpoint)).secrets == 1
    [(headers, body), (later, later_body)] = receiver.got
    verify(body, headers, old)
    verify(body, headers, new)
    verify(later_body, later, new)
    with pytest.raises(BadSignature):
        verify(later_body, later, old)


async def test_a_second_rotation_does_not_lengthen_the_life_of_the_first_secret(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        await hooks.rotate(endpoint, overlap_s=10.0)
        await hooks.rotate(endpoint, overlap_s=1000.0)
        assert (await hooks.endpoint(endpoint)).secrets == 3
        await cell.pass_time(11)
        assert (await hooks.endpoint(endpoint)).secrets == 2


async def test_secrets_are_nowhere_in_the_database(cell: Cell) -> None:
    """A receiver that sends back all it knows, and an endpoint with a header of its own."""
    secret, token = "", "tok_9f8e7d6c5b4a/+="
    receiver = Receiver()
    receiver.answer = lambda n: page(f"{secret} {token} {token.encode().hex()}".encode(), status="500 No")
    async with receiving(receiver), hooks_to(cell, receiver) as hooks:
        endpoint, secret = await hooks.add(receiver, headers={"Authorization": f"Bearer {token}", "X-Key": "k-123456"})
        await hooks.emit()
        async with working(cell, hooks.settings):
            await hooks.attempted()
        [delivery] = await hooks.deliveries()
        [attempt] = await webhooks.list_delivery_attempts(hooks.db, cell.tenant_a, delivery.delivery_id)
        found = await hooks.endpoint(endpoint)
    assert receiver.got[0][0]["authorization"] == f"Bearer {token}"
    assert attempt.response_body == "[redacted] [redacted] [redacted]"
    assert {attempt.request_headers[name] for name in ("Authorization", "X-Key")} == {"[redacted]"}
    assert attempt.request_headers["webhook-id"] == str(delivery.event_id)
    everything = json.dumps(await dump(cell))
    raw = base64.b64decode(secret.removeprefix("whsec_"))
    for form in (secret, secret.removeprefix("whsec_"), token, f"Bearer {token}"):
        assert hidden(form, everything)
    assert raw.hex() not in everything
    assert raw.decode("latin-1") not in "".join(map(str, await dump(cell)))
    assert found.headers == ["Authorization", "X-Key"]


async def test_of_an_answer_so_much_is_kept_and_no_more(cell: Cell) -> None:
    receiver = Receiver(always("500 No", b"\0" + b"x" * 100_000))
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver)
        await hooks.emit()
        await hooks.attempted()
        [delivery] = await hooks.deliveries()
        [attempt] = await webhooks.list_delivery_attempts(hooks.db, cell.tenant_a, delivery.delivery_id)
    assert attempt.response_body == "\ufffd" + "x" * 19_999


# -- tenants --------------------------------------------------------------------------------------------------------


async def test_a_tenant_can_neither_see_nor_touch_anothers(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        await hooks.emit()
        [delivery] = await hooks.deliveries()
        before = await dump(cell)
        other, db = cell.tenant_b, hooks.db
        assert await webhooks.list_endpoints(db, other) == []
        assert await webhooks.list_deliveries(db, other) == []
        assert await webhooks.list_deliveries(db, other, endpoint=endpoint) == []
        for refused in (
            webhooks.list_endpoints(db, other, endpoint),
            webhooks.list_delivery_attempts(db, other, delivery.delivery_id),
            webhooks.set_endpoint_state(db, other, endpoint, "paused"),
            webhooks.test_endpoint(db, other, endpoint),
            webhooks.resend_delivery(db, other, delivery.delivery_id),
            webhooks.recover_deliveries(db, other, endpoint, datetime(2020, 1, 1, tzinfo=UTC)),
            webhooks.remove_endpoint(db, other, endpoint),
        ):
            with pytest.raises(NotFound):
                await refused
        async with cell.database(Role.WORKER) as worker:
            sending = await webhooks.begin_delivery(worker, other, delivery.delivery_id, delivery.job_id or UUID(int=0))
            assert sending is None
        assert await dump(cell) == before


async def test_events_of_one_tenant_go_to_no_endpoint_of_another(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver)
        await webhooks.emit_event(
            hooks.db, cell.tenant_b, "order.paid", subject_type="order", subject_id="b", data={"of": "b"}
        )
        [mine] = await hooks.emit()
        await hooks.settled()
        assert await webhooks.list_deliveries(hooks.db, cell.tenant_b) == []
    assert receiver.accepted == [mine]


# -- what people do -------------------------------------------------------------------------------------------------


async def test_events_wait_for_an_endpoint_that_is_paused(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        before = await hooks.emit()  # has its job already
        await webhooks.set_endpoint_state(hooks.db, cell.tenant_a, endpoint, "paused", "they move house")
        async with working(cell, hooks.settings):
            after = await hooks.emit(2)
            await jobless(cell, 3)
            assert receiver.got == []
            assert (await hooks.endpoint(endpoint)).reason == "they move house"
            await webhooks.set_endpoint_state(hooks.db, cell.tenant_a, endpoint, "enabled")
            await receiver.wait_for(3)
            await hooks.settled()
    assert sorted(receiver.accepted) == sorted(before + after)


async def jobless(cell: Cell, n: int) -> None:
    async def ask() -> bool:
        [found] = await cell.look("select count(*) from leasehold.delivery where job_id is null and state = 'pending'")
        return bool(found["count"] == n)

    await eventually(ask, what=f"{n} deliveries that wait for their endpoint")


async def test_a_tenant_over_its_quota_gets_its_events_later(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver)
        await cell.exceed_quota(1)
        sent = await hooks.emit()
        await jobless(cell, 1)
        async with working(cell, hooks.settings):  # counts, and finds that it is not
            await hooks.settled()
    assert receiver.accepted == sent


async def test_one_delivery_is_sent_again_under_the_same_id(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver)
        [event_id] = await hooks.emit()
        [delivery] = await hooks.settled()
        await webhooks.resend_delivery(hooks.db, cell.tenant_a, delivery.delivery_id)
        await receiver.wait_for(2)
        [again] = await hooks.settled()
    assert (again.delivery_id, again.attempts, receiver.accepted) == (delivery.delivery_id, 2, [event_id] * 2)


async def test_one_that_backs_off_is_sent_at_once(cell: Cell) -> None:
    receiver = Receiver(lambda n: page(b"", status="200 OK" if n == 3 else "500 No"))
    async with receiving(receiver), hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver)
        await hooks.emit()
        for n in (1, 2):
            await hooks.attempted(n)
            [delivery] = await hooks.deliveries()
            await webhooks.resend_delivery(hooks.db, cell.tenant_a, delivery.delivery_id)
        [delivery] = await hooks.settled()
    assert (delivery.state, delivery.attempts) == ("delivered", 3)


async def test_all_that_failed_or_was_missed_since_a_moment_is_recovered(cell: Cell) -> None:
    receiver = Receiver(always("410 Gone"))
    async with receiving(receiver), hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        start = datetime.now(UTC) - timedelta(hours=1)
        failed = await hooks.emit(2)
        async with working(cell, hooks.settings):
            await hooks.settled(hurry=True)
            missed = await hooks.emit(3)
            with pytest.raises(Conflict, match="disabled: it answered 410 Gone"):
                await webhooks.recover_deliveries(hooks.db, cell.tenant_a, endpoint, start)
            receiver.answer = always()
            await webhooks.set_endpoint_state(hooks.db, cell.tenant_a, endpoint, "enabled")
            late = datetime.now(UTC) + timedelta(hours=1)
            assert await webhooks.recover_deliveries(hooks.db, cell.tenant_a, endpoint, late) == 0
            # and the event that told of the disabling
            assert await webhooks.recover_deliveries(hooks.db, cell.tenant_a, endpoint, start) == 6
            await hooks.settled(hurry=True)
    assert set(receiver.accepted) > set(failed + missed)


async def test_an_endpoint_can_be_tried_out(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        endpoint, _ = await hooks.add(receiver, "order.paid")
        await webhooks.test_endpoint(hooks.db, cell.tenant_a, endpoint)
        await hooks.settled()
        assert receiver.events[0]["type"] == "endpoint.test"


async def test_what_is_on_its_way_to_an_endpoint_that_is_removed_is_not_sent(cell: Cell, worker_db: Database) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        await hooks.emit()
        [delivery] = await hooks.deliveries()
        await webhooks.remove_endpoint(hooks.db, cell.tenant_a, endpoint)
        sending = await webhooks.begin_delivery(
            worker_db, cell.tenant_a, delivery.delivery_id, delivery.job_id or UUID(int=0)
        )
    assert sending is None
    assert await cell.look("select * from leasehold.secret") == []


# -- endpoints that cannot be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://example.com/hook", "in the clear"),
        ("http://127.0.0.1/hook", "not a public host"),
        ("https://127.0.0.1/hook", "not a public host"),
        ("https://example.com:22/hook", "port 22"),
        ("https://ada:pw@example.com/hook", "refused"),
        ("ftp://example.com/", "not http"),
    ],
)
async def test_an_endpoint_that_must_not_be_reached_is_refused(cell: Cell, url: str, problem: str) -> None:
    receiver = Receiver()
    async with hooks_to(cell, receiver) as hooks, hooks.scope() as scope:
        with pytest.raises((BadInput, FetchRefused), match=problem):
            await webhooks.create_endpoint(scope, cell.tenant_a, KEYS, hooks.settings, url=url, events=["*"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"events": ["Job Dead"]}, "no type of event"),
        ({"events": []}, "1 to 100 types"),
        ({"format_": "slack"}, "there is no format 'slack'"),
        ({"header_names": {"id": "x"}}, "no header for 'id'"),
        ({"header_names": {"signature": "a b"}}, "characters that headers cannot have"),
        ({"headers": {"Webhook-Signature": "v1,x"}}, "ours to send"),
        ({"headers": {"Host": "other"}}, "cannot be set"),
        ({"max_in_flight": 0}, "1 to 100 deliveries at once"),
        ({"timeout_s": 61.0}, "1 to 60 s to answer"),
    ],
)
async def test_an_endpoint_that_cannot_be_is_refused(cell: Cell, options: dict[str, Any], problem: str) -> None:
    async with hooks_to(cell, Receiver()) as hooks:
        with pytest.raises(BadInput, match=problem):
            async with hooks.scope() as scope:
                given = {"url": "https://example.com/", "events": ["*"]} | options
                await webhooks.create_endpoint(scope, cell.tenant_a, KEYS, hooks.settings, **given)
        assert await webhooks.list_endpoints(hooks.db, cell.tenant_a) == []


@pytest.mark.parametrize("type_", ["job.succeeded", "endpoint.disabled", "Order", "order", "a b.c"])
async def test_an_event_that_cannot_be_is_refused(api_db: Database, cell: Cell, type_: str) -> None:
    with pytest.raises(BadInput):
        await webhooks.emit_event(api_db, cell.tenant_a, type_, subject_type="o", subject_id="1", data={})


async def test_old_events_and_expired_secrets_go_with_the_history(cell: Cell, worker_db: Database) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        endpoint, _ = await hooks.add(receiver)
        await hooks.rotate(endpoint, overlap_s=1.0)
        await hooks.emit()
        async with working(cell, hooks.settings):
            await hooks.settled()
        await cell.pass_time(timedelta(days=91).total_seconds())
        assert await webhooks.purge_events(worker_db, history_days=90) == 2
        assert await hooks.deliveries() == []
        assert await cell.look("select * from leasehold.delivery_attempt") == []
        assert len(await cell.look("select * from leasehold.secret")) == 1
