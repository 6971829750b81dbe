"""Peers beside us in one interleaved run, and our figures divided by theirs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from leasehold.errors import BadInput
from leasehold_bench import machine
from leasehold_bench.peers.harness import Harness
from leasehold_bench.report import medians, ratios

#: The harness measures these in one go, which it calls T.
_TOGETHER = set("ABCD")
_KNOWN = "ABCDTEFGH"


async def run_peers(
    harness: Harness, peers: Sequence[str], scenarios: str, *, repetitions: int, command: str
) -> dict[str, Any]:
    """The harness's own JSON with our figures under ``leasehold``, and: machine, command, medians, ratios, failures."""
    letters = _letters(scenarios)
    environments = await harness.environments()
    if unknown := [peer for peer in peers if peer not in environments]:
        raise BadInput(
            f"the harness knows no {', '.join(unknown)}",
            hint=f"peers are: {', '.join(environments)}; scenarios are separated by commas",
        )
    await harness.install(environments[peer] for peer in peers)
    about: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "machine": machine.describe(),
    }
    async with harness.services():
        found = await harness.run(peers, letters, repetitions=repetitions)
    about["machine"]["load_at_end"] = machine.load()
    middle = medians(found["results"])
    return about | found | {"medians": middle, "ratios": ratios(middle)}


def _letters(scenarios: str) -> list[str]:
    wanted = [letter.strip().upper() for letter in scenarios.split(",")]
    if unknown := [letter for letter in wanted if letter not in _KNOWN]:
        raise BadInput(
            f"the harness has no scenario {', '.join(unknown)}", hint=f"some of {', '.join(_KNOWN)} (T is A to D)"
        )
    return list(dict.fromkeys("T" if letter in _TOGETHER else letter for letter in wanted))
