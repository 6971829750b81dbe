"""What the server adds to its API for this pack."""

from uuid import UUID

from acme_notes.handlers import Note
from leasehold import web
from leasehold.errors import NotFound

routes = web.routes("notes")


@routes.get("/v1/notes", summary="The newest notes first", openapi_extra=web.needs("jobs:read"))
async def list_notes(tenant: web.Tenant) -> dict[str, list[str]]:
    async with tenant.transaction() as tx:
        rows = await tx.fetch("select text from leasehold_notes.note order by note_id desc limit 100")
    return {"data": [row["text"] for row in rows]}


@routes.post("/v1/notes", summary="Have a note written", status_code=202, openapi_extra=web.needs("jobs:write"))
async def write_note(tenant: web.Tenant, note: Note, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        job = await tx.enqueue("notes.write", note)
        return web.Answer(status=202, value={"job_id": job.job_id}, headers={"Location": f"/v1/jobs/{job.job_id}"})

    return await tenant.once(idempotency_key, operate)


@routes.get("/n/{job_id}", summary="A note that was published", openapi_extra=web.anybody())
async def published(stranger: web.Stranger, job_id: UUID) -> dict[str, str]:
    async with stranger.transaction() as tx:
        text = await tx.fetchval("select leasehold_notes.published($1)", job_id)
    if text is None:
        raise NotFound("no such note")
    return {"text": text}
