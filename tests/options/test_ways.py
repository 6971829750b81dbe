"""An option means the same whichever way a job is asked for.

The options are those that SQL knows, so a new one is compared by itself. What may differ stands in ``EXPECTED``.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from leasehold import Settings, options
from leasehold.api.models import JobOptions, JobRequest, StepOptions
from leasehold.engine.database import Database
from tests.cell import Cell
from tests.options import ways
from tests.options.cases import SAMPLES, Case, cases
from tests.options.expected import EXPECTED, WAYS, wanted_of
from tests.options.world import world_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "sql.md"


async def known_options(cell: Cell, of: str) -> list[str]:
    [row] = await cell.look(f"select leasehold.known_options('{of}') as options")
    return list(row["options"])


async def all_cases(cell: Cell) -> list[Case]:
    return cases(await known_options(cell, "job"), await known_options(cell, "kind"))


async def test_every_option_has_its_samples(cell: Cell) -> None:
    assert SAMPLES.keys() == set(await known_options(cell, "job"))
    of_handlers = {option for option, sample in SAMPLES.items() if sample.handler is not None}
    assert of_handlers == set(await known_options(cell, "kind"))


async def test_every_list_of_options_is_that_of_sql(cell: Cell) -> None:
    assert set(options.OF_KINDS) == set(await known_options(cell, "kind"))
    assert JobOptions.model_fields.keys() == set(await known_options(cell, "schedule"))
    assert StepOptions.model_fields.keys() == set(await known_options(cell, "step"))
    assert JobRequest.model_fields.keys() - {"kind", "payload", "key", "force"} == set(await known_options(cell, "job"))
    assert set(options.LONG.values()) <= set(await known_options(cell, "job"))


async def test_the_reference_says_who_may_give_an_option(cell: Cell) -> None:
    row = re.compile(r"^\| `(\w+)` \|.*\| (?:([a-z, ]+)|–) \|$", re.MULTILINE)
    part = REFERENCE.read_text().partition("### Options")[2].partition("###")[0]
    told = {name: set((places or "").split(", ")) - {""} for name, places in row.findall(part)}
    assert told.keys() == set(await known_options(cell, "job"))
    for place in ("kind", "step", "schedule"):
        assert {name for name, places in told.items() if f"{place}s" in places} == set(await known_options(cell, place))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_options_mean_the_same(cell: Cell, worker_db: Database, fast: Settings, way: ways.Way) -> None:
    async with world_of(cell, await all_cases(cell), fast, worker_db) as world:
        wanted = await world.wanted()
        found = await world.seen(await way(world))
    different, in_vain = [], set(EXPECTED.get(way, ()))
    for case in world.cases:
        here = wanted_of(way, case, wanted[case.name])
        if here != wanted[case.name]:
            in_vain.discard(case.option)
        if found[case.name] != here:
            different.append(f"{case.name}: {difference(here, found[case.name])}")
    assert not different, "\n".join(different)
    assert not in_vain, "these differ nowhere any more"


#: Ways by which a program asks that has the handlers itself.
OWN = [ways.alone, ways.many, ways.grouped, ways.in_a_transaction, ways.in_a_sync_transaction, ways.sync_alone]
OWN_STEPS = [ways.step_of_a_flow, ways.step_in_a_transaction]


@pytest.mark.parametrize("way", [*OWN, *OWN_STEPS], ids=lambda way: way.__name__)
async def test_a_program_brings_the_options_of_its_handlers_before_the_first_worker(
    cell: Cell, worker_db: Database, fast: Settings, way: ways.Way
) -> None:
    async with world_of(cell, await all_cases(cell), fast, worker_db, known=False) as world:
        assert await cell.look("select * from leasehold.kind") == []
        wanted = await world.wanted()
        found = await world.seen(await way(world))
    expected = {case.name: wanted_of(way, case, wanted[case.name]) for case in world.cases}
    assert found == expected


def difference(wanted: Any, found: Any) -> str:
    if "refused" in (wanted, found):
        return f"wanted {_shortly(wanted)}, found {_shortly(found)}"
    return ", ".join(f"{k} {found.get(k)!r} instead of {v!r}" for k, v in wanted.items() if found.get(k) != v)


def _shortly(found: Any) -> str:
    return "a job" if isinstance(found, dict) else "a refusal"
