"""``leasehold gates …`` as a real process."""

import pytest

from tests.cli.program import leasehold


@pytest.mark.long
def test_a_gate_by_hand(here: dict[str, str]) -> None:
    said = leasehold("gates", "set", "host:", "--rate", "10", "--per", "60", "--failures", "5", env=here)
    assert (said.code, said.err) == (0, "host: has its rule\n")
    assert leasehold("gates", "set", "shop:", "--rate", "5", "--shared", env=here).code == 0
    assert leasehold("gates", "hold", "host:a", "--for", "60", env=here).code == 0
    held = leasehold("gates", "show", "host:a", "--json", env=here).json
    assert (held["rule"], held["state"], held["next_at"] is not None) == ("host:", "closed", True)
    assert leasehold("gates", "reset", "host:a", env=here).code == 0
    assert "10 in 60 s" in leasehold("gates", "list", env=here).out
    assert leasehold("gates", "reset", "shop:x", env=here).code == 4, "it belongs to all tenants"
    assert leasehold("gates", "remove", "shop:", "--shared", env=here).code == 0
    refused = leasehold("gates", "set", "x", "--burst", "3", env=here)
    assert (refused.code, "a rate, or failures" in refused.err) == (2, True)
