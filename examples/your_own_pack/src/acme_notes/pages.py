"""What the dashboard shows of this pack."""

from leasehold import web

pages = web.pages("notes", title="Notes", templates="acme_notes")


@pages.get("/notes", "jobs:read", live=True)
async def notes(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        rows = await tx.fetch("select text, job_id from leasehold_notes.note order by note_id desc limit 100")
    return look.show("notes.html", live=True, notes=rows)


@pages.post("/notes", "jobs:write")
async def write(look: web.Look) -> web.Response:
    job = await look.tenant.client.enqueue("notes.write", {"text": look.said("text")})
    return look.go(look.url(f"/jobs/{job.job_id}"), "The note is being written.")
