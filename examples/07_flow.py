"""Jobs that wait for each other, and for a person. Run it with `leasehold up 07_flow:app`, then `python 07_flow.py`.

discover → approval → baseline (a page for each product) → monitor (the same pages later) → summary
"""

import asyncio
from typing import Any

from leasehold import Context, Fail, Leasehold, approval, group

app = Leasehold()

SHOP = {"mug": (900, 800), "pen": (250, 250), "vase": (4000, None)}  # cents, at the first look and at the second


@app.handler("watch.discover")
async def discover(ctx: Context, site: str) -> list[str]:
    return sorted(SHOP)


@app.handler("watch.page", attempts=2, retry=(0.1, 1))
async def page(ctx: Context, look: dict[str, Any]) -> dict[str, Any]:
    cents = SHOP[look["product"]][look["turn"]]
    if cents is None:
        raise Fail("the page is gone")
    return look | {"cents": cents}


@app.handler("watch.crawl")
async def crawl(ctx: Context, turn: int) -> int:
    """Adds a step for each product as it ends: whatever waits for it waits for all of them."""
    found = (await ctx.results())["discover"]
    async with ctx.transaction() as tx:
        await tx.add(group(page.step({"product": name, "turn": turn}) for name in found))
        return await tx.complete(len(found))


@app.handler("watch.summary")
async def summary(ctx: Context, site: str) -> list[str]:
    seen = [look.result or {} for look in await ctx.parents() if look.kind == "watch.page"]
    price = {(look["product"], look["turn"]): look["cents"] for look in seen if look}
    lines = []
    for name in sorted(SHOP):
        before, after = price.get((name, 0)), price.get((name, 1))
        lines.append(f"{name}: {before} → {after or 'gone'}" if before != after else f"{name}: still {before}")
    return lines


async def main() -> None:
    flow = app.flow("site", deadline=3600)
    found = flow.add("watch.discover", "shop.example", name="discover")
    asked = flow.include(approval("watch these?", name="ask", expires=600), after=found)
    baseline = flow.add("watch.crawl", 0, name="baseline", after=[found, asked])
    # A page that is gone shall not end the flow: what comes after it sees that it failed.
    monitor = flow.add("watch.crawl", 1, name="monitor", after=[found, baseline], on_failure="continue")
    flow.add("watch.summary", "shop.example", name="summary", after=[baseline, monitor], on_failure="continue")

    async with app:
        flow_id = await flow.start()
        flows = (await app.client()).flows
        async for event in flows.follow(flow_id):
            if event.type == "waiting":  # no worker waits with us; this may take weeks
                [question] = [one for one in await flows.approvals() if one.flow_id == flow_id]
                print(question.payload["message"], "yes")
                await flows.approve(question.job_id, "looks right", actor="ada")
        ended = await flows.get(flow_id)
        print(ended.state, ended.counts)
        [last] = [step for step in await flows.steps(flow_id) if step.name == "summary"]
        print(*await app.wait(last.job_id), sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
