"""One page of a shop: asked for politely, and what its answer is, before anything is written about it."""

from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import TypedDict
from uuid import UUID

from leasehold import Context, Fetched, Retry
from leasehold.errors import FetchDisallowed, FetchError
from leasehold_packs.monitors.extract import EXTRACTOR, Reading, read, with_feed
from leasehold_packs.monitors.model import Settings
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.shop_feed import feed_url
from leasehold_packs.webfacts.url_key import plain_url, url_key

#: Whom shops see.
AGENT = "LeaseholdMonitor"
MAX_BYTES = 5_000_000
_REFUSED = {401, 402, 403, 407, 429, 451}
_GONE = {404, 410}
_LONGEST_REST_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedProduct:
    """A product as its check needs it."""

    product_id: UUID
    site_id: UUID
    url: str
    selector: str | None
    settings: Settings
    asked_at: datetime  # by the clock of the database
    rules_since: datetime  # when its run began, or some minutes ago: a robots.txt from before is read again
    known: dict[str, str]  # what the product was recognised by before
    body: str | None
    extractor: int | None
    media_type: str | None
    is_waiting: bool  # for a second look at a change
    has_feed: bool  # then a page that is the same says nothing

    @property
    def chosen_selector(self) -> str | None:
        return self.selector or self.settings.selector


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPage:
    """``verdict`` is read, same, no_price, blocked, missing, moved or error; ``reading`` is what the page says."""

    verdict: str
    status: int | None = None
    problem: str | None = None
    reading: Reading | None = None
    body: str | None = None
    media_type: str | None = None
    feed: str | None = None
    ms: int | None = None

    @property
    def evidence(self) -> str | None:
        """Where the price stands."""
        is_fed = self.reading is not None and self.reading.main.method == "feed:price"
        return self.feed if is_fed else self.body


async def visit(ctx: Context, watched: WatchedProduct) -> CheckedPage:
    """A passing problem is raised as long as another attempt is left."""
    try:
        fetched = await _fetch(ctx, watched, watched.url)
    except FetchDisallowed as problem:
        return CheckedPage(verdict="blocked", problem=problem.why)
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        return CheckedPage(verdict="error", problem=str(problem))
    _rest(ctx, fetched)
    return await _ask_platform(ctx, watched, assess(watched, fetched), fetched.url)


async def _fetch(ctx: Context, watched: WatchedProduct, url: str) -> Fetched:
    return await ctx.fetch(
        url,
        polite=True,
        rules_since=watched.rules_since,
        agent=AGENT,
        remember=True,
        max_bytes=MAX_BYTES,
    )


async def _ask_platform(ctx: Context, watched: WatchedProduct, checked: CheckedPage, url: str) -> CheckedPage:
    """What the shop's platform says in JSON stands above the page; where it says nothing, the page will do."""
    reading = checked.reading
    if reading is None or reading.platform is None or not watched.settings.feeds or watched.chosen_selector:
        return checked
    if (address := feed_url(reading.platform, url)) is None:
        return checked
    try:
        fetched = await _fetch(ctx, watched, address)
        document = fetched.json() if fetched.status in (200, 304) else None
    except FetchError:
        return checked
    fed = with_feed(reading, document, url=url, currency=watched.settings.currency)
    if fed is reading:
        return checked
    return replace(checked, verdict="read", problem=None, reading=fed, feed=fetched.sha256)


def _rest(ctx: Context, fetched: Fetched) -> None:
    """A shop that is busy or broken is left alone for a while, by everybody; the last attempt takes its answer."""
    if ctx.attempt >= ctx.max_attempts:
        return
    if fetched.status in (429, 503) and (after := fetched.header("retry-after") or "").isdigit():
        raise Retry(f"answered {fetched.status}", after=min(float(after), _LONGEST_REST_S), gate=True)
    if fetched.status >= 500:
        raise RuntimeError(f"{fetched.url} answered {fetched.status}")


class _Answer(TypedDict):
    status: int
    ms: int
    body: str
    media_type: str | None


def assess(watched: WatchedProduct, fetched: Fetched) -> CheckedPage:
    """What an answer is; also of one that was kept."""
    given: _Answer = {
        "status": fetched.status,
        "ms": round(fetched.timings.total * 1000),
        "body": fetched.sha256,
        "media_type": fetched.header("content-type") or watched.media_type,
    }
    if fetched.status in _REFUSED:
        return CheckedPage(verdict="blocked", problem=f"answered {fetched.status}", **given)
    if fetched.status in _GONE:
        return CheckedPage(verdict="missing", **given)
    if fetched.status not in (200, 304):
        return CheckedPage(verdict="error", problem=f"answered {fetched.status}", **given)
    is_known = fetched.sha256 == watched.body and watched.extractor == EXTRACTOR
    if is_known and not watched.is_waiting and not watched.has_feed:
        return CheckedPage(verdict="same", **given)
    return _assess_page(watched, fetched, given)


def _assess_page(watched: WatchedProduct, fetched: Fetched, given: _Answer) -> CheckedPage:
    text = decode(fetched.body, content_type=given["media_type"])
    reading = read(text, url=fetched.url, selector=watched.chosen_selector, currency=watched.settings.currency)
    if reading.is_challenge:
        return CheckedPage(
            verdict="blocked", problem="a question to a person, or nothing, instead of the page", **given
        )
    if reading.is_not_found:
        return CheckedPage(verdict="missing", problem="the page says that there is nothing", **given)
    if _is_elsewhere(watched, fetched.url, reading):
        return CheckedPage(verdict="moved", problem=f"leads to {fetched.url}"[:500], **given)
    if not reading.is_readable:
        problem = "the page is made by a script in the browser" if reading.needs_script else "no price was found"
        return CheckedPage(verdict="no_price", problem=problem, reading=reading, **given)
    return CheckedPage(verdict="read", reading=reading, **given)


def _is_elsewhere(watched: WatchedProduct, final: str, reading: Reading) -> bool:
    """Whether a redirect led to another product, or to none: nothing that the product was known by is there."""
    if plain_url(final) == plain_url(watched.url) or not watched.known:
        return False
    return not any(reading.get(name) == value for name, value in watched.known.items())


def page_key(url: str) -> bytes:
    """What a page's row is found by; BadInput for what is no address of a page."""
    return sha256(url_key(url).encode()).digest()
