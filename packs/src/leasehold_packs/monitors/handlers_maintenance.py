"""The kinds that keep house, for one tenant at a time.

monitors.upkeep     once a day: partitions ahead, days rolled up, old rows and empty partitions forgotten
monitors.health     once an hour: which sites are in trouble
"""

from datetime import timedelta

from leasehold import Context
from leasehold_packs.monitors.handlers import MAINTENANCE, app

_BATCH = 2000


@app.handler("monitors.upkeep", queue=MAINTENANCE, timeout=3600)
async def upkeep(ctx: Context) -> dict[str, int]:
    """Each part in a transaction of its own: a night that ends early goes on the next."""
    async with ctx.transaction() as tx:
        made = await tx.fetchval("select leasehold_monitors.make_partitions()")
    rolled = await _roll_up(ctx)
    forgotten = 0
    while True:
        async with ctx.transaction() as tx:
            gone = await tx.fetchval("select leasehold_monitors.forget($1)", _BATCH)
        forgotten += gone
        if not gone:
            break
    async with ctx.transaction() as tx:
        dropped = await tx.fetchval("select leasehold_monitors.drop_empty_partitions()")
        return await tx.complete({"made": made, "rolled_up": rolled, "forgotten": forgotten, "dropped": dropped})


async def _roll_up(ctx: Context) -> int:
    """From the day before the last that was rolled up, which may not have been over, to today."""
    async with ctx.transaction() as tx:
        row = await tx.fetchrow("select today, first from leasehold_monitors.days_to_roll_up()")
        if row["first"] is None:
            return 0
        until = row["today"] + timedelta(days=1)
        rolled: int = await tx.fetchval("select leasehold_monitors.roll_up($1, $2)", row["first"], until)
        return rolled


@app.handler("monitors.health", queue=MAINTENANCE, timeout=600)
async def health(ctx: Context) -> int:
    """Look after all sites; how many are newly in trouble."""
    async with ctx.transaction() as tx:
        rows = await tx.fetch("select site_id, trouble from leasehold_monitors.look_after_sites()")
        for row in rows:
            data = {"site_id": str(row["site_id"]), "trouble": row["trouble"]}
            await tx.emit("monitors.site_in_trouble", "site", str(row["site_id"]), data)
        return await tx.complete(len(rows))
