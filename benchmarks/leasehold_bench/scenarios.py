"""All scenarios, by their letters."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from leasehold.errors import BadInput
from leasehold_bench import scenario_costs, scenario_drain, scenario_enqueue, scenario_latency, scenario_outside
from leasehold_bench.sizes import Bench, Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Makes a database of its own and yields its measures, once for each repetition if it repeats itself."""

    letter: str
    title: str
    measure: Callable[[Bench], AsyncIterator[Measures]]
    repeats_itself: bool = False  # loads once, and measures again and again on that load
    note: str | None = None  # what a reader of its figures has to know


SCENARIOS = {
    scenario.letter: scenario
    for scenario in (
        Scenario(letter="A", title="enqueue, one by one", measure=scenario_enqueue.enqueue),
        Scenario(letter="B", title="enqueue, 1,000 a call", measure=scenario_enqueue.bulk),
        Scenario(letter="C", title="drain, 1 process", measure=scenario_drain.drain_by_one),
        Scenario(letter="D", title="drain, 2 processes", measure=scenario_drain.drain_by_two),
        Scenario(letter="E", title="pick-up by an idle worker", measure=scenario_latency.pick_up),
        Scenario(
            letter="F", title="drain with a backlog", measure=scenario_drain.drain_of_backlog, repeats_itself=True
        ),
        Scenario(letter="G", title="drain under an old snapshot", measure=scenario_drain.drain_under_snapshot),
        Scenario(letter="H", title=f"enqueue, {scenario_enqueue.CALLERS} callers", measure=scenario_enqueue.concurrent),
        Scenario(
            letter="I",
            title="99 tenants beside a flooding one",
            measure=scenario_latency.flooded,
            note="jobs of the flood sleep for 0.1 s; the flooding tenant may have more waiting than the default quota",
        ),
        Scenario(
            letter="J", title=f"drain of {scenario_drain.GROUPS:,} groups", measure=scenario_drain.drain_of_groups
        ),
        Scenario(
            letter="K",
            title="drain with a history",
            measure=scenario_drain.drain_after_history,
            repeats_itself=True,
            note="the history was written by SQL, set-wise, into job and outcome; no worker ran it",
        ),
        Scenario(letter="L", title="memory of a worker process", measure=scenario_costs.memory),
        Scenario(
            letter="M",
            title="WAL and commits",
            measure=scenario_costs.writing,
            note="WAL is that of the whole server, commits are those of the benchmark's database",
        ),
        Scenario(
            letter="W",
            title="webhooks beside receivers that hang",
            measure=scenario_outside.hanging_receivers,
            note="from the event to the receivers that answer in both runs; receivers are in the benchmark's process",
        ),
        Scenario(
            letter="X",
            title="fetch beside the bare client",
            measure=scenario_outside.fetching,
            note="small pages from a server on loopback, turn by turn; no database",
        ),
    )
}


def choose(letters: str | None) -> list[Scenario]:
    """Those that are named, as ``A,C``; all of them by default."""
    if letters is None:
        return list(SCENARIOS.values())
    wanted = {letter.strip().upper() for letter in letters.split(",")}
    if unknown := sorted(wanted - SCENARIOS.keys()):
        known = "; ".join(f"{scenario.letter} {scenario.title}" for scenario in SCENARIOS.values())
        raise BadInput(
            f"there is no scenario {', '.join(unknown)}", hint=f"some of these, separated by commas: {known}"
        )
    return [scenario for letter, scenario in SCENARIOS.items() if letter in wanted]
