"""Which addresses are public: our own table, because ``ipaddress.is_global`` lets tunnels through and has changed
between patch releases of Python. Pure.

IPv4 is public unless it is listed; IPv6 is public only inside 2000::/3, unless it is listed.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_V4 = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a carrier",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "for protocols",
    "192.0.2.0/24": "for documentation",
    "192.31.196.0/24": "a DNS sink",
    "192.52.193.0/24": "a multicast relay",
    "192.88.99.0/24": "a 6to4 relay",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "a DNS sink",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_V6 = {
    "2001::/23": "for protocols (Teredo and others)",
    "2001:db8::/32": "for documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "a DNS sink",
    "3ffe::/16": "the 6bone, given back",
    "3fff::/20": "for documentation",
}
#: Where clouds hand out credentials, as far as the tables above would let it be reached by an allow-list.
_METADATA = {
    "169.254.169.254/32": "a metadata service",
    "169.254.170.0/23": "a metadata service",
    "fe80::a9fe:a9fe/128": "a metadata service",
    "fd00:ec2::/32": "a metadata service",
    "fd20:ce::254/128": "a metadata service",
    "100.100.100.200/32": "a metadata service",
    "192.0.0.192/32": "a metadata service",
    "168.63.129.16/32": "a cloud's wire server",
}
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_ISATAP = (0x00005EFE, 0x02005EFE)


def _table(listed: dict[str, str]) -> list[tuple[Network, str]]:
    return [(ip_network(net), what) for net, what in listed.items()]


_METADATA_TABLE = _table(_METADATA)
_TABLE = _METADATA_TABLE + _table(_V4) + _table(_V6)


def parse_address(text: str) -> Address | None:
    """The address that a host spells, in brackets or not; None for a name."""
    try:
        return unmapped(ip_address(text.removeprefix("[").removesuffix("]").split("%")[0]))
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nothing else: by its address, or by a name that no DNS can lead elsewhere."""
    address = parse_address(host)
    return address.is_loopback if address else host == "localhost" or host.endswith(".localhost")


def unmapped(address: Address) -> Address:
    """::ffff:a.b.c.d reaches a.b.c.d: both are judged as the latter."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def why_not_public(address: Address) -> str | None:
    """What a non-public address is, in words; None for a public one."""
    address = unmapped(address)
    if found := _found(address, _TABLE):
        return found
    if isinstance(address, IPv4Address):
        return None
    if address not in _GLOBAL_UNICAST:
        return "outside of the public IPv6 range"
    inner = _tunnelled(address)
    return why_not_public(inner) if inner else None


def is_metadata(address: Address) -> bool:
    return _found(unmapped(address), _METADATA_TABLE) is not None


def _found(address: Address, table: list[tuple[Network, str]]) -> str | None:
    return next((what for network, what in table if address in network), None)


def _tunnelled(address: IPv6Address) -> IPv4Address | None:
    """ISATAP hides an IPv4 address under any prefix; the other tunnels have prefixes of their own, in the table."""
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
