"""The database of these tests has the pack's tables, because the pack is installed."""

from acme_notes.handlers import Note, app, write

from leasehold.testing import Kit


async def test_each_tenant_counts_its_own_notes(leasehold: Kit) -> None:
    leasehold.use(app)
    await leasehold.tenant("acme")
    counts = []
    for tenant in ("default", "default", "acme"):
        await write.enqueue(Note(text="hello"), tenant=tenant)
        counts += [job.result for job in await leasehold.run_until_idle(app)]
    assert counts == [1, 2, 1]
