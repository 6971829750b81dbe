"""Changes for feed readers and spreadsheets: Atom, JSON Feed and CSV. Pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from leasehold import csv_line
from leasehold_packs.monitors.changes import ChangedValue
from leasehold_packs.monitors.model_results import OfferChange

_COLUMNS = ("at", "kind", "name", "url", "variant", "before", "after", "percent", "change_id", "product_id")


def as_csv(changes: Iterable[OfferChange]) -> str:
    """One line for each change."""
    lines = [csv_line(_COLUMNS)]
    for one in changes:
        texts = {"at": one.at.isoformat(), "before": words(one.before), "after": words(one.after)}
        lines.append(csv_line(texts.get(name) or getattr(one, name) for name in _COLUMNS))
    return "".join(lines)


def as_atom(changes: list[OfferChange], *, address: str) -> str:
    """The feed's id is its address; that of an entry is the change's own, and stays when it is asked for again."""
    updated = changes[0].at if changes else datetime(1970, 1, 1, tzinfo=UTC)
    entries = "".join(
        f"<entry><id>urn:uuid:{one.change_id}</id><title>{escape(sentence(one))}</title>"
        f"<updated>{one.at.isoformat()}</updated><link href={quoteattr(one.url)}/>"
        f"<category term={quoteattr(one.kind)}/></entry>"
        for one in changes
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
        f"<id>{escape(address)}</id><title>Changes of products</title><updated>{updated.isoformat()}</updated>"
        f'<author><name>Leasehold</name></author><link rel="self" href={quoteattr(address)}/>{entries}</feed>'
    )


def as_json_feed(changes: list[OfferChange], *, address: str) -> Mapping[str, object]:
    """https://www.jsonfeed.org/version/1.1/, with all that is known of a change under ``_change``."""
    items = [
        {
            "id": str(one.change_id),
            "url": one.url,
            "title": sentence(one),
            "content_text": sentence(one),
            "date_published": one.at,
            "tags": [one.kind],
            "_change": one,
        }
        for one in changes
    ]
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Changes of products",
        "feed_url": address,
        "items": items,
    }


def sentence(change: OfferChange) -> str:
    """``Red kite: 20.00 EUR → 18.00 EUR (-10.0 %)``."""
    percent = "" if change.percent is None else f" ({change.percent:+.1f} %)"
    return f"{change.name or change.url}: {words(change.before)} → {words(change.after)}{percent}"


def words(value: ChangedValue) -> str:
    return " ".join(str(part).replace("_", " ") for part in value.values() if part is not None)
