"""What an operator allows and denies."""

from ipaddress import ip_address

import pytest

from leasehold.errors import BadSetting, FetchRefused
from leasehold.fetch.policy import Policy
from leasehold.fetch.urls import parse_url
from leasehold.settings import Settings


def judge(policy: Policy, host: str, *addresses: str, port: int = 443) -> bool:
    try:
        policy.judge_url(parse_url(f"https://{host}:{port}/"))
        policy.judge_addresses(host, [ip_address(address) for address in addresses], port)
    except FetchRefused:
        return False
    return True


@pytest.mark.parametrize("allow", ["10.1.0.0/16", "db.internal", "*.internal", "x.test, 10.1.2.3", "DB.Internal"])
def test_the_allow_list_opens_names_addresses_and_networks(allow: str) -> None:
    assert not judge(Policy(), "db.internal", "10.1.2.3")
    assert judge(Policy.from_settings(Settings(fetch_allow=allow)), "db.internal", "10.1.2.3")


@pytest.mark.parametrize("allow", ["10.2.0.0/16", "internal", "*.db.internal", "b.internal", "fd00::/8"])
def test_the_allow_list_opens_nothing_else(allow: str) -> None:
    assert not judge(Policy.from_settings(Settings(fetch_allow=allow)), "db.internal", "10.1.2.3")


def test_one_bad_address_among_good_ones_refuses_the_host() -> None:
    assert judge(Policy(), "x.test", "8.8.8.8", "2606:4700::1")
    assert not judge(Policy(), "x.test", "8.8.8.8", "2606:4700::1", "10.0.0.1")
    assert not judge(Policy(), "x.test", "8.8.8.8", "fd00::1")


def test_an_allowed_name_does_not_lead_to_a_metadata_service_but_an_allowed_address_does() -> None:
    named = Policy.from_settings(Settings(fetch_allow="meta.internal"))
    assert not judge(named, "meta.internal", "169.254.169.254")
    assert judge(Policy.from_settings(Settings(fetch_allow="169.254.169.254")), "meta.internal", "169.254.169.254")


@pytest.mark.parametrize("deny", ["8.8.0.0/16", "8.8.8.8"])
def test_the_deny_list_wins_over_the_allow_list(deny: str) -> None:
    policy = Policy.from_settings(Settings(fetch_allow="8.8.8.8,x.test", fetch_deny=deny))
    assert not judge(policy, "x.test", "8.8.8.8")


def test_a_denied_name_is_refused_before_it_is_resolved() -> None:
    policy = Policy.from_settings(Settings(fetch_deny="*.evil.test,bad.test"))
    for url in ("http://bad.test/", "http://a.b.evil.test/"):
        with pytest.raises(FetchRefused, match="the operator denies this host"):
            policy.judge_url(parse_url(url))
    policy.judge_url(parse_url("http://good.test/"))


def test_this_machine_is_refused_under_its_public_address_too() -> None:
    policy = Policy.from_settings(Settings(), is_own=lambda address: str(address) == "8.8.8.8")
    assert not judge(policy, "x.test", "8.8.8.8")
    assert judge(policy, "x.test", "8.8.4.4")


@pytest.mark.parametrize("port", [22, 25, 79, 81, 442, 444, 3306, 5432, 6379, 8080, 65535])
def test_only_web_ports_are_open(port: int) -> None:
    with pytest.raises(FetchRefused, match=f"port {port} is not open"):
        Policy().judge_url(parse_url(f"https://example.com:{port}/"))


def test_the_operator_opens_ports() -> None:
    policy = Policy.from_settings(Settings(fetch_ports="443, 8000-8002"))
    for port in (443, 8000, 8002):
        policy.judge_url(parse_url(f"https://example.com:{port}/"))
    for port in (80, 7999, 8003):
        with pytest.raises(FetchRefused):
            policy.judge_url(parse_url(f"https://example.com:{port}/"))


@pytest.mark.parametrize("allow", ["db.internal:5000", "10.1.0.0/16:5000", "10.1.2.3:5000", "*.internal:5000"])
def test_a_port_may_be_opened_for_one_host_alone(allow: str) -> None:
    policy = Policy.from_settings(Settings(fetch_allow=allow))
    assert judge(policy, "db.internal", "10.1.2.3", port=5000)
    assert not judge(policy, "db.internal", "10.1.2.3", port=5001)
    assert not judge(policy, "db.internal", "10.1.2.3", port=443)
    assert not judge(policy, "example.com", "8.8.8.8", port=5000)


def test_an_ipv6_address_may_have_a_port_too() -> None:
    policy = Policy.from_settings(Settings(fetch_allow="[fd00::1]:5000,fd00::2"))
    assert judge(policy, "a.internal", "fd00::1", port=5000)
    assert not judge(policy, "a.internal", "fd00::1")
    assert judge(policy, "a.internal", "fd00::2")
    assert not judge(policy, "a.internal", "fd00::2", port=5000)


@pytest.mark.parametrize("ports", ["", "x", "0", "80,", "65536", "90-80", "1-", "-5"])
def test_a_bad_list_of_ports_names_itself(ports: str) -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_FETCH_PORTS"):
        Policy.from_settings(Settings(fetch_ports=ports))


@pytest.mark.parametrize(
    "entry", ["http://x", "10.0.0.0/99", "a b", "*", "a.*.b", "host:", "host:x", "u@h", "[::1", "*.*.x"]
)
def test_a_bad_entry_of_a_list_names_itself(entry: str) -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_FETCH_DENY"):
        Policy.from_settings(Settings(fetch_deny=entry))


def test_messages_say_no_address_and_details_do() -> None:
    with pytest.raises(FetchRefused) as refused:
        Policy().judge_addresses("db.internal", [ip_address("10.1.2.3")], 443)
    assert "10.1.2.3" not in str(refused.value) + str(refused.value.hint)
    assert refused.value.detail == "db.internal is 10.1.2.3: private"
    assert not refused.value.transient
