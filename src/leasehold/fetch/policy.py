"""What may be reached: public addresses on web ports, more by the operator's allow-list, less by the deny-list."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_network

from leasehold.errors import BadSetting, FetchRefused
from leasehold.fetch.public_addresses import Address, Network, is_metadata, parse_address, unmapped, why_not_public
from leasehold.fetch.urls import Url
from leasehold.settings import Settings

_PORT = re.compile(r"(\[.+\]|[^:]+):([0-9]{1,5})")
_NAME = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One of an operator's list: a name, ``*.name``, an address or a network, on one port or on those that are open."""

    name: str
    network: Network | None
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "Entry":
        found = _PORT.fullmatch(text)
        host, port = (found[1], int(found[2])) if found else (text, None)
        network = _network(host)
        if network is None and not _NAME.fullmatch(host):
            raise ValueError
        return cls(name=host, network=network, port=port)

    def names(self, host: str, port: int) -> bool:
        same = host.endswith(self.name[1:]) if self.name.startswith("*.") else host == self.name
        return self.network is None and same and self.port in (None, port)

    def covers(self, address: Address, port: int) -> bool:
        return self.network is not None and address in self.network and self.port in (None, port)


def _network(text: str) -> Network | None:
    try:
        return ip_network(re.sub(r"^\[(.+)\]", r"\1", text), strict=False)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """``judge_url`` needs no network; ``judge_addresses`` is told what the host resolved to."""

    allow: tuple[Entry, ...] = ()
    deny: tuple[Entry, ...] = ()
    ports: tuple[range, ...] = (range(80, 81), range(443, 444))
    is_own: Callable[[Address], bool] = field(default=lambda address: False)

    @classmethod
    def from_settings(
        cls, settings: Settings, *, is_own: Callable[[Address], bool] = lambda address: False
    ) -> "Policy":
        return cls(
            allow=_entries(settings.fetch_allow, setting="LEASEHOLD_FETCH_ALLOW"),
            deny=_entries(settings.fetch_deny, setting="LEASEHOLD_FETCH_DENY"),
            ports=_ports(settings.fetch_ports),
            is_own=is_own,
        )

    def judge_url(self, url: Url) -> None:
        """Refuse what can be refused without asking the DNS."""
        if any(entry.names(url.host, url.port) for entry in self.deny):
            raise FetchRefused.because(url.host, "the operator denies this host")
        if not self._is_open(url.port) and all(entry.port != url.port for entry in self.allow):
            raise _closed(url.host, url.port)
        if address := parse_address(url.host):
            self.judge_addresses(url.host, [address], url.port)

    def judge_addresses(self, host: str, addresses: list[Address], port: int) -> None:
        """Refuse the host if any of its addresses is refused: an attacker adds a public one, not the other way."""
        for address in map(unmapped, addresses):
            entries = self._allowing(host, address, port)
            if not self._is_open(port) and all(entry.port is None for entry in entries):
                raise _closed(host, port)
            if reason := self._why_not(address, port, allowed=bool(entries)):
                raise FetchRefused.because(
                    host,
                    "it is not a public host",
                    hint=_way_in(host, address, port),
                    detail=f"{host} is {address}: {reason}",
                )

    def _is_open(self, port: int) -> bool:
        return any(port in ports for ports in self.ports)

    def _allowing(self, host: str, address: Address, port: int) -> list[Entry]:
        # A name is somebody's to change: it never leads to credentials.
        by_name = () if is_metadata(address) else (entry for entry in self.allow if entry.names(host, port))
        return [*by_name, *(entry for entry in self.allow if entry.covers(address, port))]

    def _why_not(self, address: Address, port: int, *, allowed: bool) -> str | None:
        if any(entry.covers(address, port) for entry in self.deny):
            return "denied by the operator"
        if allowed:
            return None
        return why_not_public(address) or ("an address of this machine" if self.is_own(address) else None)


def _way_in(host: str, address: Address, port: int) -> str:
    if is_metadata(address):
        return "an operator can allow its address, but not its name, with LEASEHOLD_FETCH_ALLOW"
    return f"an operator can allow it with LEASEHOLD_FETCH_ALLOW={host}:{port}"


def _closed(host: str, port: int) -> FetchRefused:
    """The list of hosts is enough; that of ports leads no further to a host that is not public."""
    return FetchRefused.because(
        host,
        f"port {port} is not open to requests",
        hint=f"an operator can allow it with LEASEHOLD_FETCH_ALLOW={host}:{port}, or for all public hosts with"
        " LEASEHOLD_FETCH_PORTS",
    )


def _entries(text: str | None, *, setting: str) -> tuple[Entry, ...]:
    entries = []
    for part in filter(None, (part.strip().lower() for part in (text or "").split(","))):
        try:
            entries.append(Entry.parse(part))
        except ValueError:
            raise BadSetting(
                f"{setting} has {part!r}, which is no name, address or network",
                hint="such as files.internal:8080, *.svc.internal, 10.1.0.0/16",
            ) from None
    return tuple(entries)


def _ports(text: str) -> tuple[range, ...]:
    try:
        return tuple(_port_range(part.strip()) for part in text.split(","))
    except ValueError:
        raise BadSetting(
            f"LEASEHOLD_FETCH_PORTS={text!r} is not a list of ports", hint="such as 80,443,8000-8999"
        ) from None


def _port_range(part: str) -> range:
    first, dash, last = part.partition("-")
    ports = range(int(first), int(last if dash else first) + 1)
    if not ports or ports[0] < 1 or ports[-1] > 65535:
        raise ValueError
    return ports
