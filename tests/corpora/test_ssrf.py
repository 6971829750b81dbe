"""Other people's ways to an internal address: as a URL, as a redirect, as an answer of the DNS. None may be dialled.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import json
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any

import pytest

from leasehold.errors import FetchError, FetchRefused
from leasehold.fetch.public_addresses import Address, unmapped, why_not_public
from leasehold.settings import Settings
from tests.corpora.data import CORPORA, needs_corpora
from tests.fetch.world import PUBLIC, PUBLIC_TOO, Names, Site, World, moved, page, serving, world

pytestmark = needs_corpora

#: Every port is open, so that nothing is refused for its port alone.
OPEN = Settings(fetch_ports="1-65535")
#: The sources allow these; a translator's addresses are nobody's to reach from here.
STRICTER = {"64:ff9c::1", "64:ff9b:1:808:8:800::"}


def _rows(name: str) -> list[Any]:
    rows: list[Any] = json.loads((CORPORA / "ssrf" / name).read_text())
    assert len(rows) > 40
    return rows


def _probes(expect: str) -> list[Address]:
    probes = set()
    for row in _rows("addresses.json"):
        if row["expect"] == expect and row.get("ip") not in STRICTER:
            probes |= {ip_address(row["ip"])} if "ip" in row else _ends(row["net"])
    return sorted(probes, key=lambda probe: (probe.version, int(probe)))


def _ends(net: str) -> set[Address]:
    network = ip_network(net)
    return {network[0], network[min(1, network.num_addresses - 1)], network[-1]}


def _spellings(address: Address) -> list[str]:
    """The hosts of a URL that some parser somewhere reads as this address."""
    address = unmapped(address)
    if not isinstance(address, IPv4Address):
        return [f"[{address}]", f"[{address.exploded}]", f"[{str(address).upper()}]"]
    number, (a, b, c, d) = int(address), address.packed
    return [
        str(address), str(number), hex(number), oct(number).replace("o", ""), f"{a:#o}.{b}.{c}.{d}".replace("0o", "0"),
        f"{a:#x}.{b:#x}.{c:#x}.{d:#x}", f"{a}.{(b << 16) + (c << 8) + d}", f"{a}.{b}.{(c << 8) + d}", f"{address}.",
        f"[::ffff:{address}]", f"[::{address}]", f"[64:ff9b::{address}]", f"[2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1]",
        f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]", str(address).replace(".", "。"), f"good.test@{address}",
        f"{address}%00.good.test", f"{address}\\@good.test", f"{address}#@good.test", f"{address}%23@good.test",
        "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in str(address)),
    ]  # fmt: skip


class Everywhere(Names):
    """A resolver that knows every name, and leads all but good.test inside."""

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        return [PUBLIC] if host == "good.test" else ["10.0.0.1"]


async def _refused(w: World, url: str) -> None:
    """Not reached, and said in words that any log can print."""
    with pytest.raises(FetchError) as failed:
        await w.fetcher.get(url)
    str(failed.value).encode()


def _internal(w: World) -> list[str]:
    """What was dialled and should not have been."""
    return [address for address, _ in w.dialer.attempts if why_not_public(ip_address(address))]


def test_addresses_that_must_be_denied_are_not_public() -> None:
    probes = _probes("deny")
    passed = [str(probe) for probe in probes if why_not_public(probe) is None]
    print(f"addresses: {len(probes) - len(passed)} of {len(probes)} denied")
    assert passed == []


def test_addresses_that_must_be_allowed_are_public() -> None:
    probes = _probes("allow")
    assert len(probes) >= 4
    assert [str(probe) for probe in probes if why_not_public(probe)] == []


def test_every_block_that_is_not_globally_reachable_is_refused() -> None:
    blocks = [row["net"] for row in _rows("iana_special_purpose.json") if row["globally_reachable"] is not True]
    reached = [str(address) for net in blocks for address in _ends(net) if why_not_public(address) is None]
    mapped = ip_network("::ffff:0:0/96")  # judged by what it maps to
    assert [address for address in reached if ip_address(address) not in mapped] == []


async def test_no_url_reaches_an_internal_address() -> None:
    urls = [row["url"] for row in _rows("urls.json")]
    async with world(OPEN, names=Everywhere()) as w:
        for url in urls:
            await _refused(w, url)
    print(f"urls: {len(urls)} tried, {len(w.dialer.attempts)} attempts")
    assert _internal(w) == []


async def test_no_spelling_of_an_internal_address_reaches_it() -> None:
    hosts = [host for probe in _probes("deny") for host in _spellings(probe)]
    async with world(OPEN, names=Everywhere()) as w:
        for host in hosts:
            await _refused(w, f"http://{host}/")
            await _refused(w, f"https://{host}:8443/x")
    print(f"spellings: {len(hosts)} refused, {len(w.dialer.attempts)} attempts")
    assert w.dialer.attempts == []


async def test_no_redirect_leads_to_an_internal_address() -> None:
    values = [*_rows("redirect_location_values.json"), *(row["url"] for row in _rows("urls.json"))]
    values += [f"http://{host}/" for probe in _probes("deny") for host in _spellings(probe)[:3]]
    sendable = [value for value in values if not set(value) & set("\r\n\0")]
    site = Site()
    async with world(OPEN, names=Everywhere()) as w, serving(site) as server:
        w.dialer.servers[PUBLIC, 80] = server
        for n, value in enumerate(sendable):
            site.pages = {f"/{n}": moved(value)}
            try:
                fetched = await w.fetcher.get(f"http://good.test/{n}")
            except FetchError:
                continue
            assert fetched.url.startswith("http://good.test/"), "a relative one, which stays"
    print(f"redirects: {len(sendable)} tried")
    assert _internal(w) == []
    assert len(site.asked) >= len(sendable)


@pytest.mark.parametrize("others", [[], [PUBLIC], [PUBLIC, PUBLIC_TOO]], ids=["alone", "with A", "with A and AAAA"])
async def test_no_answer_of_the_dns_leads_to_an_internal_address(others: list[str]) -> None:
    probes = _probes("deny")
    async with world(OPEN) as w:
        for probe in probes:
            for answer in (str(probe), f"::ffff:{probe}" if probe.version == 4 else f"{probe}%1"):
                for answers in ([answer, *others], [*others, answer]):
                    w.names.answers["evil.test"] = answers
                    with pytest.raises(FetchRefused, match="not a public host"):
                        await w.fetcher.get("http://evil.test/")
    assert w.dialer.attempts == []


async def test_no_name_that_changes_with_every_question_leads_to_an_internal_address() -> None:
    probes = [str(probe) for probe in _probes("deny")]
    async with world(OPEN) as w, serving(Site({"/": page(b"public", "Connection: close")})) as server:
        w.dialer.servers[PUBLIC, 80] = server
        w.names.changing["rebind.test"] = [answer for probe in probes for answer in ([PUBLIC], [probe])]
        for _ in probes:
            assert (await w.fetcher.get("http://rebind.test/")).body == b"public"
            with pytest.raises(FetchRefused):
                await w.fetcher.get("http://rebind.test/")
    assert w.dialer.attempts == [(PUBLIC, 80)] * len(probes)


async def test_addresses_that_must_be_allowed_are_dialled() -> None:
    async with world(OPEN) as w:
        for probe in _probes("allow"):
            w.names.answers["good.test"] = [str(probe)]
            for host in ("good.test", f"[{probe}]" if probe.version == 6 else str(probe)):
                with pytest.raises(FetchError, match="does not accept connections"):
                    await w.fetcher.get(f"http://{host}/")
                assert w.dialer.attempts[-1] == (str(unmapped(probe)), 80)
