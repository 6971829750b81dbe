"""How old the rules of a site may be that a single look obeys; runs read them anew as they begin."""

from datetime import datetime

from leasehold import Context


async def fresh_enough(ctx: Context) -> datetime:
    """The moment before which a robots.txt was read too long ago, by the clock of the database."""
    async with ctx.transaction() as tx:
        moment: datetime = await tx.fetchval("select leasehold.now() - interval '10 minutes'")
    return moment
