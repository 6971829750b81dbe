"""What a GS1 Digital Link leads to, by link types: a linkset (RFC 9264) as GS1-conformant resolvers have it. Pure."""

from typing import Any

#: Says how the names in a linkset are to be read.
CONTEXT = "https://ref.gs1.org/standards/resolver/linkset-context"
MEDIA_TYPE = "application/linkset+json"
_VOCABULARY = "https://ref.gs1.org/voc/"
#: link type: (what is asked for, its media type, what it is)
_LINKS: dict[str, list[tuple[str, str, str]]] = {
    "defaultLink": [("", "text/html", "Battery passport")],
    "pip": [("", "text/html", "Battery passport")],
    "dpp": [("/json", "application/ld+json", "Battery passport, signed"), ("", "text/html", "Battery passport")],
    "verificationService": [("/bundle.zip", "application/zip", "Battery passport, to be checked offline")],
}


def linkset(link: str, passport: str, query: str, languages: list[str]) -> dict[str, Any]:
    """All links of a passport; ``link`` is its GS1 Digital Link, ``passport`` where its page is."""
    return {
        "linkset": [
            {
                "anchor": link,
                **{
                    f"{_VOCABULARY}{name}": [_target(each, passport, query, languages) for each in links]
                    for name, links in _LINKS.items()
                },
            }
        ]
    }


def _target(each: tuple[str, str, str], passport: str, query: str, languages: list[str]) -> dict[str, Any]:
    part, media_type, title = each
    target: dict[str, Any] = {"href": f"{passport}{part}{query}", "title": title, "type": media_type}
    return {**target, "hreflang": languages} if media_type == "text/html" else target


def description(root: str) -> dict[str, Any]:
    """What ``/.well-known/gs1resolver`` says: which numbers are answered here, and by which links."""
    return {
        "name": "Battery passports",
        "resolverRoot": root,
        "supportedPrimaryKeys": ["01"],
        "supportedLinkType": [{"namespace": _VOCABULARY, "prefix": "gs1:"}],
        "linkTypeDefaultCanBeLinkset": False,
        "jsonLdContextLocation": CONTEXT,
    }


def target_of(link_type: str, accept: str) -> str | None:
    """What follows the address of the page for gs1:pip, or its whole address; None for one that there is not."""
    name = link_type.removeprefix("gs1:").removeprefix(_VOCABULARY)
    links = _LINKS.get(name)
    if links is None or name == link_type:
        return None
    return next((part for part, media_type, _ in links if media_type in accept), links[0][0])
