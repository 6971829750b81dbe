"""``leasehold monitors …``."""

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from leasehold import shell

app = typer.Typer(help="Product monitors.", no_args_is_help=True)

_PATIENCE_S = 30.0
#: Products that are asked for at once.
_PART = 1000


@app.command()
@shell.command
async def score(
    folder: Annotated[Path, typer.Argument(help="ground-truth.json and html/<name>.html.gz.")], json: shell.Json = False
) -> None:
    """How well pages with known answers are read."""
    from leasehold_packs.monitors import accuracy as scores

    found = scores.score(scores.read_folder(folder))
    if json:
        shell.print_json(found)
        return
    shell.print_table(
        ["fact", "precision", "recall", "F1"],
        [(name, one["precision"], one["recall"], one["f1"]) for name, one in found["facts"].items()]
        + [(side, found[side]["precision"], found[side]["recall"], "") for side in ("out_of_stock", "in_stock")],
    )
    shell.print_table(
        ["fact", "method", "right", "wrong", "missed"],
        [
            (fact, method, *(counts.get(name, 0) for name in ("right", "wrong", "missed")))
            for fact, methods in found["by_method"].items()
            for method, counts in methods.items()
        ],
    )
    shell.say(f"{found['pages']} pages, {found['cpu_ms']['median']} ms of CPU at the median")


@app.command()
@shell.command
async def preview(
    url: str,
    selector: Annotated[str | None, typer.Option(help="Where the price stands, as a CSS selector.")] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """How a product page would be read; a worker must be running."""
    async with shell.tenant(tenant) as access:
        asked = await access.client.enqueue("monitors.preview", {"url": url, "selector": selector})
        job = await access.client.wait(asked.job_id, timeout=_PATIENCE_S)
    if job.state != "succeeded":
        shell.say(f"{url} could not be read: {(job.error or {}).get('message', job.state)}")
        raise typer.Exit(1)
    found = job.result
    if json:
        shell.print_json(found)
        return
    shell.print_table(
        ["fact", "value", "source", "method", "confidence", "where"],
        [
            (name, _shown(one["value"]), one["source"], one["method"], one["confidence"], one["pointer"][:60])
            for name, one in found["how"].items()
        ],
    )
    if not found["readable"]:
        shell.say("no price: its page is made by a script" if found["needs_script"] else "no price was found")


@app.command()
@shell.command
async def watch(
    url: str,
    tag: Annotated[list[str] | None, typer.Option(help="May be given more than once.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """Watch a product from now on; its id."""
    from leasehold_packs.monitors import service, site_setup

    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            product = await service.watch(tx, access.tenant_id, url, tags=tag or [])
            site = await service.get_site(tx, product.site_id)
        await site_setup.arrange(access, site)
    print(product.product_id)


@app.command()
@shell.command
async def discover(
    site: UUID,
    max_pages: Annotated[int, typer.Option(min=1, max=20_000, help="Pages that are looked at.")] = 500,
    include: Annotated[list[str] | None, typer.Option(help="Of these paths only, such as '/products/*'.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """Look for products by sitemaps and categories; they wait for ``approve``."""
    from leasehold_packs.monitors import service
    from leasehold_packs.monitors.model import Search

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        wanted = Search(max_pages=max_pages, include=include or [])
        print(await service.search(tx, access.tenant_id, site, wanted))


@app.command()
@shell.command
async def approve(
    site: UUID,
    least: Annotated[float, typer.Option(min=0, max=1, help="Those that are as sure as this.")] = 0.0,
    tag: Annotated[list[str] | None, typer.Option(help="May be given more than once.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """Watch the products that were found."""
    from leasehold_packs.monitors import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        count = await service.decide(
            tx, access.tenant_id, site, approve=True, by=access.actor, least=least, tags=tag or []
        )
    shell.say(f"{count} products are watched from now on")


@app.command()
@shell.command
async def crawl(site: UUID, tenant: shell.TenantOption = None) -> None:
    """Check all products of a site now; the id of the job that begins."""
    from leasehold_packs.monitors import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        print(await service.crawl(tx, site))


@app.command()
@shell.command
async def sites(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The sites, with what the newest look at their health said."""
    from leasehold_packs.monitors import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await service.list_sites(tx)
    if json:
        shell.print_json(found)
    else:
        shell.print_table(
            ["site", "url", "state", "products", "trouble"],
            [
                (one.site_id, one.url, one.state, one.products, (one.health and one.health.get("trouble")) or "")
                for one in found
            ],
        )


@app.command()
@shell.command
async def products(
    site: Annotated[UUID | None, typer.Option(help="Of this site only.")] = None,
    brand: Annotated[str | None, typer.Option(help="Of this brand only.")] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """The products with their prices."""
    from leasehold_packs.monitors import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = part = await service.list_products(tx, site_id=site, brand=brand, limit=_PART)
        while len(part) == _PART:
            part = await service.list_products(tx, site_id=site, brand=brand, after=part[-1].product_id, limit=_PART)
            found = found + part
    if json:
        shell.print_json(found)
    else:
        shell.print_table(
            ["product", "name", "price", "currency", "availability", "state", "read", "checked"],
            [
                (one.product_id, one.name or one.url, one.price, one.currency,
                 one.availability if one.is_there else "not there", one.state, one.seen_at, one.checked_at)
                for one in found
            ],
        )  # fmt: skip


@app.command()
@shell.command
async def changes(
    kind: Annotated[str | None, typer.Option(help="price, currency, availability, gone or returned.")] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """The newest confirmed changes first."""
    from leasehold_packs.monitors import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await service.list_changes(tx, kind=kind)
    if json:
        shell.print_json(found)
    else:
        shell.print_table(
            ["at", "name", "kind", "before", "after", "%"],
            [
                (one.at, one.name or one.url, one.kind, _shown(one.before), _shown(one.after), one.percent)
                for one in found
            ],
        )  # fmt: skip


@app.command()
@shell.command
async def shop(
    port: Annotated[int, typer.Option(help="On 127.0.0.1.")] = 8801,
    seed: Annotated[int, typer.Option(help="Which shop.")] = 1,
    items: Annotated[int, typer.Option(help="How many products it sells.")] = 24,
    seconds_per_day: Annotated[float, typer.Option(help="How long a day of the shop is.")] = 60.0,
) -> None:
    """Serve a shop for demonstrations, whose prices and stock change from day to day, until it is stopped."""
    from leasehold_packs.monitors.demo.server import serve
    from leasehold_packs.monitors.demo.shop import Shop

    shell.say(f"a shop at http://127.0.0.1:{port}/ whose day is {seconds_per_day:g} seconds long; Ctrl-C ends it")
    await serve(Shop(seed=seed, items=items), port=port, seconds_per_day=seconds_per_day)


@app.command()
@shell.command
async def demo(
    days: Annotated[int, typer.Option(min=1, max=100, help="Crawls, each on another day of the shop.")] = 3,
    items: Annotated[int, typer.Option(min=1, max=1000, help="How many products it sells.")] = 12,
    port: Annotated[int, typer.Option(help="Of the made-up shop; the worker must be allowed to fetch from it.")] = 8801,
    tenant: shell.TenantOption = None,
) -> None:
    """Serve a made-up shop on this machine, find its products, watch them, tell what changed; no internet is needed.

    The worker needs LEASEHOLD_FETCH_ALLOW=127.0.0.1:8801.
    """
    from leasehold_packs.monitors import demo as demonstration

    async with shell.tenant(tenant) as access:
        await demonstration.run(access, days=days, items=items, port=port, tell=shell.say)


def _shown(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)[:80]
    return " ".join(str(part) for part in value.values() if part is not None)
