"""Measure the chosen scenarios, repetition by repetition."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime

from leasehold.errors import LeaseholdError, Unreachable
from leasehold.settings import Settings
from leasehold_bench import machine
from leasehold_bench.report import Report
from leasehold_bench.scenarios import Scenario
from leasehold_bench.server import find_server
from leasehold_bench.sizes import Bench, Sizes

Say = Callable[[str], None]

#: Settings that a figure depends on. Workers have the defaults, whatever the environment says.
_WORKER = ("slots", "poll_seconds", "lease_seconds", "beat_seconds")


async def run(
    settings: Settings, chosen: Sequence[Scenario], *, sizes: Sizes, repetitions: int, command: str, say: Say
) -> Report:
    """All repetitions of all scenarios, one after another: what disturbs the machine disturbs them alike."""
    async with _bench(settings, sizes, repetitions) as bench:
        server = await machine.describe_server(bench.server.admin_url)
        report = Report(
            about={
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "command": command,
                "machine": machine.describe(),
                "server": server | {"embedded": bench.server.embedded},
                "worker": {name: getattr(Settings(), name) for name in _WORKER},
                "sizes": asdict(sizes),
            }
        )
        say(f"on PostgreSQL {server['version']}, in databases named {bench.server.template}…")
        if server["settings"]["fsync"] != "on":
            say("fsync is off on this server: what it commits is not durable, and what follows is too good to be true")
        for repetition in range(repetitions):
            for scenario in chosen:
                await measure(bench, scenario, repetition, report, say)
        report.about["machine"]["load_at_end"] = machine.load()
        return report


@asynccontextmanager
async def _bench(settings: Settings, sizes: Sizes, repetitions: int) -> AsyncIterator[Bench]:
    async with find_server(settings) as server:
        yield Bench(server=server, sizes=sizes, repetitions=repetitions)


async def measure(bench: Bench, scenario: Scenario, repetition: int, report: Report, say: Say) -> None:
    """One repetition; a run that fails, or that lost something, is void and does not stop the others."""
    if repetition and scenario.repeats_itself:
        return
    name = f"{scenario.letter} {scenario.title}"
    say(f"{name}, {'all repetitions' if scenario.repeats_itself else f'{repetition + 1} of {bench.repetitions}'}")
    if scenario.note and not repetition:
        say(f"  {scenario.note}")
        report.notes[scenario.letter] = scenario.note
    try:
        async with aclosing(scenario.measure(bench)) as measures:  # type: ignore[type-var]
            async for measured in measures:
                report.add(measured)
    except Unreachable:
        raise
    except LeaseholdError as problem:
        say(f"{name}: void: {problem}")
        report.void.append({"scenario": scenario.letter, "repetition": str(repetition + 1), "why": str(problem)})
