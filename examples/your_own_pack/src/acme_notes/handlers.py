"""The kinds of this pack: each is called ``notes.<verb>``."""

from dataclasses import dataclass

from leasehold import Context, Leasehold

app = Leasehold()


@dataclass(frozen=True)
class Note:
    text: str
    public: bool = False


@app.handler("notes.write", attempts=3)
async def write(ctx: Context, note: Note) -> int:
    """Keep the note; how many the tenant has then. Row security shows and takes only rows of the job's tenant."""
    async with ctx.transaction() as tx:
        await tx.execute(
            "insert into leasehold_notes.note (tenant_id, text, public, job_id) values ($1, $2, $3, $4)",
            ctx.tenant, note.text, note.public, ctx.job_id,
        )  # fmt: skip
        return await tx.complete(await tx.fetchval("select count(*) from leasehold_notes.note"))
