"""What people ask of sources and runs, for routes, pages and commands alike: one transaction each."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.postings import reconcile, spelling, store, store_runs, store_settle
from leasehold_packs.postings.boards import BOARDS, PAGE, Address, Unsupported, recognise
from leasehold_packs.postings.handlers import run_flow
from leasehold_packs.postings.model import Breaker, ClosingsDecided, NewSource, Options, RunRequested, Source
from leasehold_packs.postings.store_runs import Details
from leasehold_packs.webfacts.redacted import shown

if TYPE_CHECKING:
    from leasehold import Transaction

#: The rule of the gates that requests to hosts pass: five failures open the breaker, then one tries.
BREAKER = {"failures": 5, "ratio": 0.5, "window_s": 600, "cooldown_s": 300, "probes": 1}
GATES = "postings:"


def address_of(new: NewSource) -> Address:
    """Where a source is; an address that no board is known by is a page of the company."""
    if new.board is None:
        if new.url is None:
            raise BadInput("a source needs a url, or a board and a slug")
        found = recognise(new.url)
        if isinstance(found, Unsupported):
            raise BadInput(f"{found.name} boards are not read", hint=f"these are: {', '.join(sorted(BOARDS))}")
        return found or Address(board=PAGE, slug="", base=http_url(new.url))
    if new.board not in BOARDS:
        raise BadInput(f"there is no board {new.board[:50]!r}", hint=f"one of {', '.join(sorted(BOARDS))}")
    base = new.base or (
        found.base if new.url and isinstance(found := recognise(new.url), Address) else _HOMES.get(new.board)
    )
    if base is None:
        raise BadInput(f"a {new.board} board needs its base", hint="where it lives, as in https://acme.example.com")
    if not new.slug and new.board != PAGE:
        raise BadInput(f"a {new.board} board needs its slug", hint="the name of the company in its address")
    return Address(
        board=new.board, slug=new.slug or "", base=http_url(base).rstrip("/") if new.board != PAGE else http_url(base)
    )


async def add_source(tx: "Transaction", new: NewSource, options: Options) -> Source:
    address = address_of(new)
    host = urlsplit(address.base).netloc.lower()
    company = new.company or address.slug.partition("/")[0] or host.removeprefix("www.").partition(".")[0]
    return await store.add_source(tx, address, new, options, company=company, company_key=name_key(company))


async def set_breaker(client: Any) -> None:
    """The rule of the gates of this pack, unless somebody has set one."""
    if (await client.gates.get(GATES)).rule is None:
        await client.gates.set(GATES, **BREAKER)


async def get_breaker(client: Any, host: str) -> Breaker:
    gate = await client.gates.get(f"{GATES}{host}")
    return Breaker(state=gate.state, next_at=gate.next_at, waiting=gate.waiting)


async def delete_source(tx: "Transaction", source_id: UUID) -> None:
    """With all its postings, and their words."""
    await store.get_source(tx, source_id)
    await spelling.forget(tx, source_id)
    await store.delete_source(tx, source_id)


async def decide_closings(tx: "Transaction", source_id: UUID, *, close: bool) -> ClosingsDecided:
    """What a person says about closings that were held: they are gone, or the board was wrong."""
    source = await store.lock_source(tx, source_id)
    if source.held is None:
        raise Conflict("no closings of this source wait for a decision")
    closed = await reconcile.close_held(tx, source_id, source.held.run_id) if close else 0
    await store_settle.decide_held(tx, source_id)
    return ClosingsDecided(source_id=source_id, closed=closed)


async def request_run(
    tx: "Transaction", actor: str, *, sources: Sequence[UUID] | None = None, details: Details = "due"
) -> RunRequested:
    """Start a run over these sources, or over all enabled ones of the companies that the caller wants."""
    hosts = await store_runs.choose_sources(tx, sources, actor)
    if sources is not None and len(hosts) < len(set(sources)):
        raise NotFound("not all of these sources are there", hint="leasehold postings sources")
    run_id, free = await store_runs.add_run(tx, actor, details, list(hosts))
    if not free:
        raise Conflict(
            "each of these sources is in a run already" if hosts else "there is no enabled source",
            hint="wait for it, or cancel it" if hosts else "leasehold postings add URL",
        )
    flow = run_flow(run_id, [(source_id, host) for source_id, host in hosts.items() if source_id in free])
    await store_runs.RUNS.start(tx, run_id, flow)
    return RunRequested(run_id=run_id, sources=len(free))


def name_key(name: str) -> str:
    return re.sub(r"[^\w]|_", "", name.casefold())[:200] or name[:200]


def http_url(url: str) -> str:
    """A whole address of a page, or a refusal."""
    parsed = urlsplit(url.strip())
    if parsed.scheme not in ("http", "https") or not parsed.hostname or parsed.username or parsed.password:
        raise BadInput(
            f"{shown(url)[:100]!r} is no whole http or https address", hint="as in https://acme.example.com/jobs"
        )
    return url.strip()


_HOMES = {
    "ashby": "https://api.ashbyhq.com",
    "greenhouse": "https://boards-api.greenhouse.io",
    "lever": "https://api.lever.co",
    "smartrecruiters": "https://api.smartrecruiters.com",
    "workable": "https://apply.workable.com",
}
