"""An option means the same whichever way a job is asked for.

The options are those that SQL knows, so a new one is compared by itself. What may differ stands in ``EXPECTED``.
"""

from typing import Any

import pytest

from leasehold import Settings, job_options
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.http import types
from leasehold.job_options import OPTIONS
from leasehold.program.handler import RUN_OPTIONS
from leasehold.typed_options import HandlerOptions, JobOptions, StepOptions
from tests.cell import Cell
from tests.options import ways
from tests.options.cases import SAMPLES, Case, cases
from tests.options.expected import EXPECTED, WAYS, wanted_of
from tests.options.world import world_of


async def known_options(cell: Cell, of: str) -> list[str]:
    [row] = await cell.look(f"select leasehold.known_options('{of}') as options")
    return list(row["options"])


async def all_cases(cell: Cell) -> list[Case]:
    return cases(await known_options(cell, "job"), await known_options(cell, "kind"))


async def test_every_option_has_its_samples(cell: Cell) -> None:
    assert SAMPLES.keys() == set(await known_options(cell, "job"))
    of_handlers = {option for option, sample in SAMPLES.items() if sample.handler is not None}
    assert of_handlers == set(await known_options(cell, "kind"))


async def test_every_list_of_options_is_that_of_the_table(cell: Cell) -> None:
    places = {"kind": HandlerOptions, "step": StepOptions, "job": JobOptions}
    for place, typed in places.items():
        known = {job_options.LONG.get(name, name) for name in typed.__annotations__}
        assert known - {*RUN_OPTIONS, "retry"} == set(await known_options(cell, place))
    assert types.JobOptions.model_fields.keys() == set(await known_options(cell, "schedule"))
    assert types.StepOptions.model_fields.keys() == set(await known_options(cell, "step"))
    assert types.EnqueueOptions.model_fields.keys() == set(await known_options(cell, "job"))


async def test_the_table_says_what_a_job_is_like_that_was_given_nothing(cell: Cell, api_db: Database) -> None:
    await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {})
    await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {"tags": ["by the long way"]})
    defaults = {one.name: one.default for one in OPTIONS if one.default and one.name in COLUMNS}
    assert len(defaults) == 7
    columns = ", ".join(f"{name}::text" for name in defaults)
    assert await cell.look(f"select {columns} from leasehold.job") == [defaults] * 2


#: Options with a default that are columns of a job.
COLUMNS = ("queue", "priority", "max_attempts", "retry_base_s", "retry_cap_s", "timeout_s", "version")


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
