"""``leasehold postings …``."""

from functools import partial
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from leasehold import shell

if TYPE_CHECKING:
    from leasehold import Access
    from leasehold_packs.postings.model import PreviewedPosting, Run

app = typer.Typer(help="Job postings: follow boards, search, see what changed.", no_args_is_help=True)

_POLL_SECONDS = 0.5
_PATIENCE_SECONDS = 120.0
Source = Annotated[UUID, typer.Argument(help="The id of a source.")]


@app.command()
@shell.command
async def detect(url: str, tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """Say which board an address belongs to, and what it lists; nothing is kept. A worker must be running."""
    from leasehold.errors import BadInput
    from leasehold_packs.postings import service
    from leasehold_packs.postings.handlers import QUEUE

    service.http_url(url)
    async with shell.tenant(tenant) as access:
        made = await access.client.enqueue("postings.detect", {"url": url}, queue=QUEUE)
        job = await access.client.wait(made.job_id, timeout=_PATIENCE_SECONDS)
    if job.state != "succeeded":
        raise BadInput(f"the address cannot be read: {(job.error or {}).get('message') or job.state}")
    found = job.result
    if json:
        shell.print_json(found)
    elif not found["supported"]:
        shell.say(found["hint"])
    else:
        shell.say(
            f"{found['board']} board {found['slug'] or found['base']} of {found['company']}: {found['listed']} postings"
        )
        shell.print_table(["title", "places", "remote"], [_preview(one) for one in found["postings"]])
    if not found["supported"]:
        raise typer.Exit(1)


@app.command()
@shell.command
async def add(
    url: Annotated[str | None, typer.Argument(help="Of a board, or of a page about jobs.")] = None,
    board: Annotated[str | None, typer.Option(help="With --slug, instead of a url.")] = None,
    slug: Annotated[str | None, typer.Option(help="The company's name at the board.")] = None,
    base: Annotated[str | None, typer.Option(help="For a board on a host of its own.")] = None,
    company: Annotated[str | None, typer.Option(help="As it is to be called.")] = None,
    title: Annotated[list[str] | None, typer.Option(help="Only titles with this word; may be given again.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No titles with this word; may be given again.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """Follow a board."""
    from leasehold_packs.postings import service
    from leasehold_packs.postings.model import NewSource, Options

    options = Options(title_include=title or [], title_exclude=exclude or [])
    new = NewSource(url=url, board=board, slug=slug, base=base, company=company)
    async with shell.tenant(tenant) as access:
        await service.set_breaker(access.client)
        async with access.transaction() as tx:
            made = await service.add_source(tx, new, options)
    print(made.source_id)


@app.command()
@shell.command
async def sources(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """All sources with their health."""
    from leasehold_packs.postings import store

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await store.list_sources(tx)
    if json:
        shell.print_json(found)
    else:
        names = ["source_id", "company", "board", "open", "health", "last_ok_at", "problem"]
        shell.print_table(names, [[getattr(one, name) for name in names] for one in found])


@app.command()
@shell.command
async def run(
    source: Annotated[list[UUID] | None, typer.Argument(help="All enabled ones if left out.")] = None,
    details: Annotated[str, typer.Option(help="due, or all: read every text again.")] = "due",
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Ask sources what they list now, and wait for the end; a worker must be running."""
    from leasehold_packs.postings import service

    if details not in ("due", "all"):
        raise typer.BadParameter(f"{details} is neither due nor all", param_hint="--details")
    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            made = await service.request_run(
                tx, access.actor, sources=source or None, details="all" if details == "all" else "due"
            )
        ended = await _ended(access, made.run_id)
    if json:
        shell.print_json(ended)
    else:
        for one in ended.sources:
            found = ", ".join(f"{n} {name}" for name, n in one.counts.items() if n) or one.problem
            shell.say(f"{one.company} ({one.board}): {one.state}, {found}")
    if ended.state != "succeeded":
        raise typer.Exit(1)


@app.command()
@shell.command
async def cancel(run_id: UUID, tenant: shell.TenantOption = None) -> None:
    """Abort a run."""
    from leasehold_packs.postings import store_runs

    async with shell.tenant(tenant) as access:
        await store_runs.RUNS.cancel(access, run_id)


@app.command()
@shell.command
async def runs(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The newest runs first."""
    from leasehold_packs.postings import store_runs

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await store_runs.list_runs(tx)
    if json:
        shell.print_json(found)
    else:
        names = ["run_id", "state", "sources", "created_at", "finished_at"]
        shell.print_table(names, [[getattr(one, name) for name in names] for one in found])


@app.command()
@shell.command
async def closings(
    source: Source,
    close: Annotated[bool, typer.Option("--close/--keep", help="Whether what is missing is really gone.")],
    tenant: shell.TenantOption = None,
) -> None:
    """Decide about postings that vanished all at once."""
    from leasehold_packs.postings import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        decided = await service.decide_closings(tx, source, close=close)
    shell.say(f"{decided.closed} closed")


@app.command()
@shell.command
async def search(
    q: Annotated[str, typer.Argument(help='Words, "phrases", -without, or.')] = "",
    exact: Annotated[bool, typer.Option(help="Put nothing right.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Search postings that are open."""
    from leasehold_packs.postings import search as searching
    from leasehold_packs.postings import store_postings

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        question = searching.question_of(searching.Query(q=q or None))
        found = await searching.find(tx, question, limit=limit, exact=exact)
        postings = await store_postings.list_postings(tx, found.ids)
    if found.corrected is not None:
        shell.say(f"showing results for {found.corrected}; --exact searches for {q}")
    if found.alike:
        shell.say("no posting has these words; these titles look like them")
    if json:
        shell.print_json(postings)
    else:
        rows = [[one.posting_id, one.company, one.title, " | ".join(one.locations)] for one in postings]
        shell.print_table(["posting", "company", "title", "places"], rows)


@app.command()
@shell.command
async def trends(
    weeks: Annotated[int, typer.Option(min=1, max=520)] = 12,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Hiring by the week, of all companies: opened, closed, changed, and open in the end."""
    from leasehold_packs.postings import store_postings

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await store_postings.hiring_by_week(tx, weeks=weeks)
    if json:
        shell.print_json(found)
    else:
        shell.print_table(
            ["week", "opened", "closed", "changed", "open"],
            [[one.week, one.opened, one.closed, one.changed, one.open] for one in found],
        )


@app.command()
@shell.command
async def ghosts(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """Open postings that may be there for show alone, and why."""
    from leasehold_packs.postings import store_postings

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await store_postings.list_ghosts(tx)
    if json:
        shell.print_json(found)
    else:
        rows = [[one.company, one.title, one.open_days, " ".join(one.signals)] for one in found]
        shell.print_table(["company", "title", "days", "signals"], rows)


@app.command()
@shell.command
async def show(posting_id: UUID, tenant: shell.TenantOption = None) -> None:
    """All about one posting, as JSON: its text, what became of it, where else it is listed."""
    from leasehold_packs.postings import store_postings

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        shell.print_json(await store_postings.get_posting(tx, posting_id))


@app.command()
@shell.command
async def export(
    form: Annotated[str, typer.Option("--format", help="csv or json.")] = "csv", tenant: shell.TenantOption = None
) -> None:
    """Print all postings that are open."""
    from leasehold_packs.postings import report, store_postings
    from leasehold_packs.postings import search as searching

    if form not in ("csv", "json"):
        raise typer.BadParameter(f"{form} is neither csv nor json", param_hint="--format")
    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await searching.find(tx, searching.question_of(searching.Query()), limit=10_000)
        postings = await store_postings.list_postings(tx, found.ids)
    if form == "csv":
        print(report.as_csv(postings), end="")
    else:
        shell.print_json(postings)


@app.command()
@shell.command
async def demo(
    rounds: Annotated[
        int, typer.Option(min=1, max=100, help="Runs, with a changed board before each but the first.")
    ] = 3,
    port: Annotated[
        int, typer.Option(help="Of the made-up board; the worker must be allowed to fetch from it.")
    ] = 8765,
    tenant: shell.TenantOption = None,
) -> None:
    """Serve a made-up board on this machine, follow it, change it, and tell what was seen; no internet is needed.

    The worker needs LEASEHOLD_FETCH_ALLOW=127.0.0.1:8765.
    """
    from leasehold_packs.postings import demo as demonstration

    async with shell.tenant(tenant) as access:
        await demonstration.run(access, rounds=rounds, port=port, tell=shell.say)


async def _ended(access: "Access", run_id: UUID) -> "Run":
    from leasehold_packs.postings import store_runs
    from leasehold_packs.postings.stream import snapshot
    from leasehold_packs.runs.snapshot import wait

    await wait(partial(snapshot, access, run_id), every_s=_POLL_SECONDS)
    async with access.transaction() as tx:
        return await store_runs.get_run(tx, run_id)


def _preview(one: "PreviewedPosting") -> list[str]:
    return [one["title"], " | ".join(one["locations"]), one["remote"] or ""]
