"""Which addresses are public."""

from ipaddress import ip_address, ip_network

import pytest

from leasehold.fetch.public_addresses import is_metadata, parse_address, why_not_public

PUBLIC = [
    "1.1.1.1", "8.8.8.8", "93.184.215.14", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
    "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
    "192.0.3.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.15",
    "::ffff:8.8.8.8", "2606:4700:4700::1111", "2001:200::1", "2001:4860:4860::8888", "2a00:1450::1", "2003::1",
]  # fmt: skip

NOT_PUBLIC = [
    ("0.0.0.0", "this network"),
    ("10.0.0.1", "private"),
    ("100.100.100.200", "a metadata service"),
    ("127.0.0.1", "loopback"),
    ("168.63.129.16", "a cloud's wire server"),
    ("169.254.169.254", "a metadata service"),
    ("169.254.0.1", "link-local"),
    ("192.0.0.9", "for protocols"),
    ("192.88.99.1", "a 6to4 relay"),
    ("224.0.0.1", "multicast"),
    ("255.255.255.255", "reserved"),
    ("::", "outside of the public IPv6 range"),
    ("::1", "outside of the public IPv6 range"),
    ("::127.0.0.1", "outside of the public IPv6 range"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::ffff:0:127.0.0.1", "outside of the public IPv6 range"),
    ("64:ff9b::8.8.8.8", "outside of the public IPv6 range"),
    ("64:ff9b:1::1", "outside of the public IPv6 range"),
    ("100::1", "outside of the public IPv6 range"),
    ("2001::1", "for protocols (Teredo and others)"),
    ("2001:1ff:ffff::", "for protocols (Teredo and others)"),
    ("2001:db8::1", "for documentation"),
    ("2002:808:808::1", "6to4"),
    ("2606:4700::5efe:10.0.0.1", "private"),
    ("2606:4700::200:5efe:10.0.0.1", "private"),
    ("3fff:fff::1", "for documentation"),
    ("5f00::1", "outside of the public IPv6 range"),
    ("fc00::1", "outside of the public IPv6 range"),
    ("fd00:ec2::254", "a metadata service"),
    ("fe80::1", "outside of the public IPv6 range"),
    ("fec0::1", "outside of the public IPv6 range"),
    ("ff02::1", "outside of the public IPv6 range"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    assert why_not_public(ip_address(address)) is None


@pytest.mark.parametrize(("address", "reason"), NOT_PUBLIC)
def test_other_addresses_are_not_and_say_what_they_are(address: str, reason: str) -> None:
    assert why_not_public(ip_address(address)) == reason


def test_an_isatap_address_of_a_public_one_is_public() -> None:
    assert why_not_public(ip_address("2606:4700::200:5efe:8.8.8.8")) is None


def test_every_first_and_last_address_outside_of_2000_3_is_refused() -> None:
    inside = ip_network("2000::/3")
    outside = [net for net in ip_network("::/0").subnets(new_prefix=12) if not net.subnet_of(inside)]  # type: ignore[arg-type]
    assert len(outside) == 4096 - 512
    assert all(why_not_public(address) for net in outside for address in (net[0], net[-1]))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("example.com", None),
        ("127.1", None),
        ("", None),
    ],
)
def test_a_host_is_an_address_or_a_name(host: str, address: str | None) -> None:
    assert parse_address(host) == (ip_address(address) if address else None)


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "169.254.170.2", "fd00:ec2::254"])
def test_metadata_services_are_known(address: str) -> None:
    assert is_metadata(ip_address(address))
    assert not is_metadata(ip_address("10.0.0.1"))
