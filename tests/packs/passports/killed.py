"""``python -m tests.packs.passports.killed --seeds 50``: the signer is killed between signing and commit.

One passport for each seed. Whatever the moment, in the end each has one version, one leaf of the log, one proof that
holds, and one event of each kind with one id, in the pack's own history and among the webhooks.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from leasehold.testing import Kit
from leasehold.testing.server import joined
from tests.cli.program import started
from tests.http.conftest import SECRET_KEY
from tests.packs.passports.mortal import POINTS, point_of
from tests.packs.passports.office import Office, administrator, good, office, prepare
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT

_HISTORY = """
select v.passport_id, count(distinct v.version_id) as versions, min(v.state) as state,
  (select array_agg(e.type order by e.at, e.event_id) from leasehold_passports.event e
    where e.passport_id = v.passport_id) as events,
  (select array_agg(e.event_id) from leasehold_passports.event e where e.passport_id = v.passport_id) as ids,
  (select count(*) from leasehold_passports.log_leaf l where l.version_id = any(array_agg(v.version_id))) as leaves,
  (select array_agg(w.event_id) from leasehold.webhook_event w where w.subject_id = v.passport_id::text) as sent
from leasehold_passports.version v group by 1
"""


async def run(kit: Kit, seeds: Sequence[int], folder: Path) -> Counter[str]:
    """How often it was killed where."""
    async with office(kit) as maker:
        await maker.opened()
        package = await maker.package()
        passports = [await maker.passport(says=None, name=f"Seed {seed}") for seed in seeds]
        for passport in passports:
            for pointer, value in (("/model", "M1"), ("/energy", 62000), ("/footprint", 3782), ("/mass", 430)):
                fact = {"pointer": pointer, "value": value}
                good(await maker.api.put(f"/v1/passports/{passport}/facts", json=fact))
        versions = [
            good(await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package}))["version_id"]
            for passport in passports
        ]
        env = kit.environment | ENVIRONMENT
        env |= {
            "LEASEHOLD_TENANT": "default",
            "LEASEHOLD_SECRET_KEYS": SECRET_KEY,
            "LEASEHOLD_SLOTS": "1",
        }  # a crash is of one attempt
        command = (sys.executable, "-m", "tests.packs.passports.mortal", str(folder), str(seeds[0]))
        with started(env=env, command=command) as worker:
            await eventually(lambda: _all_active(maker, versions), what="every version active", seconds=600)
            kills = worker.out.count("killed")
        await _check(kit, maker, versions)
        points = Counter(_name(*point_of(UUID(mark), seeds[0])) for mark in os.listdir(folder))
        assert len(os.listdir(folder)) == len(seeds), "every signing job was killed once"
        return points + Counter({"kills of the process": kills})


def _name(point: int, _seconds: float) -> str:
    return f"before statement {point + 1}" if point < POINTS - 1 else "while it committed"


async def _all_active(maker: Office, versions: Sequence[str]) -> bool:
    states = [(await maker.version(version))["state"] for version in versions]
    assert "failed" not in states
    return set(states) == {"active"}


async def _check(kit: Kit, maker: Office, versions: Sequence[str]) -> None:
    connection = await administrator(kit)
    try:
        rows: list[Any] = await connection.fetch(_HISTORY)
    finally:
        await connection.close()
    assert len(rows) == len(versions)
    for row in rows:
        assert (row["versions"], row["leaves"], row["state"]) == (1, 1, "active")
        assert row["events"] == ["passport.signed", "passport.activated"]
        assert sorted(row["ids"]) == sorted(row["sent"]), "one id, here and among the webhooks"
    for version in versions:
        at = f"/v1/passports/versions/{version}"
        parts = {name: json.loads((await maker.api.get(f"{at}/{name}")).content) for name in _PARTS}
        assert good(await maker.api.post("/v1/passports/verify", json=parts))["ok"]


_PARTS = ("payload", "receipt", "proof", "log", "disclosure")


async def main(seeds: Sequence[int]) -> None:
    with (
        joined(f"killed-{os.getpid()}") as server,
        server.database() as settings,
        tempfile.TemporaryDirectory() as folder,
        Kit(settings, server) as kit,
    ):
        await prepare(kit)
        points = await run(kit, seeds, Path(folder))
    for name, count in sorted(points.items()):
        print(f"{count:4} {name}")
    print(f"{len(seeds)} seeds from {seeds[0]}: each has one version, leaf and proof that holds, one id for each event")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    asyncio.run(main(range(given.first, given.first + given.seeds)))
