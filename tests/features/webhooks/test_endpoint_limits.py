"""Endpoints with a rate, in order, or signed by a key pair."""

import base64
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import leases
from leasehold.errors import BadInput
from leasehold.features.webhooks import store as webhooks
from leasehold.webhooks import BadSignature, verify
from tests.cell import Cell
from tests.features.webhooks.hooks import Receiver, always, hooks_to, receiving, working
from tests.fetch.world import page
from tests.waiting import eventually


def ids(receiver: Receiver) -> list[str]:
    return [headers["webhook-id"] for headers, _ in receiver.got]


# -- in order -------------------------------------------------------------------------------------------------------


async def test_an_ordered_endpoint_gets_events_one_by_one_and_a_failure_holds_the_others(cell: Cell) -> None:
    failing = Receiver(lambda n: page(b"", status="500 Broken") if n in (2, 3) else page(b""))
    async with receiving(failing) as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver, ordered=True)
        first, second, *others = sent = await hooks.emit(12)
        deliveries = await hooks.settled(hurry=True)
    assert {delivery.state for delivery in deliveries} == {"delivered"}
    assert ids(receiver) == [first, second, second, second, *others]
    assert receiver.accepted == sent
    assert receiver.most == 1


async def test_an_ordered_endpoint_that_is_held_up_gets_all_in_order_later_and_slows_no_other(cell: Cell) -> None:
    async with (
        receiving(Receiver(always("500 Broken"))) as stuck,
        receiving() as well,
        hooks_to(cell, stuck, well) as hooks,
    ):
        held, _ = await hooks.add(stuck, ordered=True)
        await hooks.add(well)
        async with working(cell, hooks.settings):
            sent = await hooks.emit(6)
            await eventually(lambda: accepted(well, 6), what="all at the endpoint that answers")
            await stuck.wait_for(1)
            await hooks.hurry()
            await stuck.wait_for(2)  # the first, once more
            assert (set(ids(stuck)), stuck.accepted) == ({sent[0]}, [])
            assert {one.state for one in await hooks.deliveries(endpoint=held)} == {"pending"}
            stuck.answer = always()
            await hooks.settled(hurry=True)
    assert stuck.accepted == sent
    assert sorted(well.accepted) == sorted(sent)


async def accepted(receiver: Receiver, n: int) -> bool:
    return len(receiver.accepted) == n


async def test_a_delivery_whose_job_ended_without_a_word_holds_nobody(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, ordered=True)
        sent = await hooks.emit(2)
        [head] = [one for one in await hooks.deliveries() if one.job_id]
        await hooks.db.call("cancel", head.job_id, tenant=cell.tenant_a)
        async with working(cell, hooks.settings):
            await receiver.wait_for(1)
            await eventually(lambda: accepted(receiver, 1), what="the second")
    assert receiver.accepted == sent[1:]


async def test_without_order_nobody_waits_for_another(cell: Cell) -> None:
    stubborn = Receiver(lambda n: page(b"", status="500 Broken") if n == 2 else page(b""))
    async with receiving(stubborn) as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        await hooks.add(receiver)
        await hooks.emit(1)
        await receiver.wait_for(1)
        await hooks.in_state("delivered")
        await hooks.emit(3)
        await hooks.in_state("delivered", 3)
        assert len(await hooks.deliveries(state="pending")) == 1


# -- at a rate ------------------------------------------------------------------------------------------------------


async def test_an_endpoint_with_a_rate_gets_no_more_than_that(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        endpoint, _ = await hooks.add(receiver, max_per_minute=1)
        await hooks.emit(3)
        await hooks.in_state("delivered")

        async def others_were_sent_away() -> bool:
            rows = await cell.look("select why from leasehold.deferred")
            return len(rows) == 2

        for n in (1, 2):
            if n == 1:
                await eventually(others_were_sent_away, what="two that come back later")
            assert len(receiver.got) == n
            await cell.pass_time(60)
            await receiver.wait_for(n + 1)
        assert (await hooks.endpoint(endpoint)).max_per_minute == 1


async def test_a_rate_that_cannot_be_is_refused(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        with pytest.raises(BadInput, match="1 to 60000 deliveries a minute"):
            await hooks.add(receiver, max_per_minute=0)
        assert await cell.look("select * from leasehold.endpoint") == []


# -- by a key pair --------------------------------------------------------------------------------------------------


async def test_an_endpoint_may_verify_with_a_public_key(cell: Cell) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks, working(cell, hooks.settings):
        endpoint, public = await hooks.add(receiver, format_="ed25519")
        assert public.startswith("whpk_")
        assert len(base64.b64decode(public.removeprefix("whpk_"))) == 32
        await hooks.emit()
        await receiver.wait_for(1)
        newer = await hooks.rotate(endpoint)
        await hooks.emit()
        await hooks.settled(hurry=True)
    for secret, got in [(public, receiver.got[0]), (public, receiver.got[1]), (newer, receiver.got[1])]:
        verify(got[1], got[0], secret)
    assert receiver.got[0][0]["webhook-signature"].startswith("v1a,")
    assert receiver.got[1][0]["webhook-signature"].count("v1a,") == 2
    with pytest.raises(BadSignature):
        verify(receiver.got[0][1], receiver.got[0][0], newer)
    with pytest.raises(BadSignature):
        verify(b"{}", receiver.got[0][0], public)


# -- beside those that hang -----------------------------------------------------------------------------------------


async def test_endpoints_that_have_not_answered_share_a_quarter_of_the_slots(cell: Cell, worker_db: Database) -> None:
    await leases.register_worker(worker_db, name="w", version="0", queues=["default"], kinds={}, slots=8, lease_s=60.0)
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        for _ in range(4):
            await hooks.add(receiver)
        await hooks.emit()
        deliveries = await hooks.deliveries()

        async def verdict(n: int) -> str:
            sending = await webhooks.begin_delivery(
                worker_db, cell.tenant_a, deliveries[n].delivery_id, UUID(str(deliveries[n].job_id))
            )
            assert sending is not None
            return sending.verdict

        assert [await verdict(n) for n in range(4)] == ["send", "send", "busy", "busy"]
        await cell.change(
            f"update leasehold.endpoint set answers = true where endpoint_id = '{deliveries[2].endpoint_id}'"
        )
        assert await verdict(2) == "send", "it has answered before"
        assert await verdict(3) == "busy"
