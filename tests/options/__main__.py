"""``python -m tests.options`` prints the comparison: every way to ask for a job, and what becomes of each option.

``=`` the job is as it is by SQL, ``R`` the option is refused, ``D`` the job differs as ``expected`` says, ``!`` the
job differs in another way. Each way has a database of its own.
"""

import asyncio
from collections import defaultdict

from leasehold import Settings
from leasehold.database.database import Role
from tests.cell import Cell, apart
from tests.options import ways
from tests.options.cases import Case, cases
from tests.options.expected import EXPECTED, REFUSED, WAYS, wanted_of
from tests.options.world import world_of

FAST = Settings(lease_seconds=20.0, beat_seconds=0.5, poll_seconds=0.05, grace_seconds=5.0)


async def compare(cell: Cell, way: ways.Way, compared: list[Case]) -> dict[str, str]:
    """One letter for each option: the worst of its cases."""
    async with cell.database(Role.WORKER) as db, world_of(cell, compared, FAST, db) as world:
        wanted = await world.wanted()
        found = await world.seen(await way(world))
    letters: dict[str, set[str]] = defaultdict(set)
    for case in compared:
        here = wanted_of(way, case, wanted[case.name])
        same = here == wanted[case.name]
        letter = "!" if found[case.name] != here else "=" if same else "R" if here == REFUSED else "D"
        letters[case.option or "nothing"].add(letter)
    return {option: min(seen, key="!RD=".index) for option, seen in letters.items()}


async def main() -> None:
    async with apart() as attacked:
        rows = await attacked.look("select leasehold.known_options('job') a, leasehold.known_options('kind') b")
        compared = cases(rows[0]["a"], rows[0]["b"])
        options = list(dict.fromkeys(case.option or "nothing" for case in compared))
        print(f"{len(compared)} combinations of {len(rows[0]['a'])} options, {len(WAYS)} ways\n")
        print(f"| way | {' | '.join(options)} |\n|---|{'---|' * len(options)}")
        for way in WAYS:
            cell = await attacked.cluster.clone()
            try:
                letters = await compare(cell, way, compared)
            finally:
                await cell.give_back()
            print(f"| {way.__name__} | {' | '.join(letters[option] for option in options)} |", flush=True)
    print()
    reasons: dict[str, list[str]] = defaultdict(list)
    for way_, expected in EXPECTED.items():
        for option, row in expected.items():
            what = "refused" if row.what == REFUSED else "differs"
            reasons[f"{option} {what}: {row.why}"].append(way_.__name__)
    for reason, names in reasons.items():
        print(f"{reason} ({', '.join(names)})")


if __name__ == "__main__":
    asyncio.run(main())
