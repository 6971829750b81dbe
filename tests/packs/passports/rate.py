"""``python -m tests.packs.passports.rate --batteries 10000``: how many passports a second are compiled and signed here.

From the request of a bulk until every battery has an active, signed version: facts, seals, receipts, proofs, QR codes
and events, by worker processes like those of an installation.
"""

import argparse
import asyncio
import os
import time
from resource import RUSAGE_CHILDREN, getrusage

from leasehold.testing import Kit
from leasehold.testing.server import joined
from leasehold_packs.passports.attributes import Category, battery_pass_rules
from leasehold_packs.passports.demo import sample_maker
from tests.cli.program import started
from tests.http.conftest import SECRET_KEY
from tests.packs.passports.office import Office, good, office, prepare
from tests.waiting import eventually


async def main(batteries: int, processes: int) -> None:
    with joined(f"rate-{os.getpid()}") as server, server.database() as settings, Kit(settings, server) as kit:
        await prepare(kit)
        async with office(kit) as made:
            await made.opened()
            bulk = await _asked(made, batteries)
            env = kit.environment | {"LEASEHOLD_SECRET_KEYS": SECRET_KEY, "LEASEHOLD_PACKS": "none"}
            began = time.monotonic()
            app = "leasehold_packs.passports.handlers_bulk:kinds"
            with started("worker", app, "--processes", str(processes), env=env) as workers:
                await eventually(lambda: _is_done(made, bulk, batteries), what="all active", seconds=3600)
                seconds = time.monotonic() - began
                workers.stopped()
    used = getrusage(RUSAGE_CHILDREN)
    print(
        f"{batteries} passports in {seconds:.1f} s: {batteries / seconds:.0f} compiled, signed and activated a second"
        f" by {processes} processes on {os.cpu_count()} cores (load {os.getloadavg()[0]:.1f});"
        f" {1000 * (used.ru_utime + used.ru_stime) / batteries:.0f} ms of processor time of workers each"
    )


async def _asked(made: Office, batteries: int) -> str:
    says = sample_maker.document(Category.LMT, 1)
    model = await made.passport(says=says, gtin=sample_maker.gtin(1))
    package = await made.package(battery_pass_rules(Category.LMT))
    raw = sample_maker.sheet(batteries, 1)
    sheet = await made.send(model, raw, media="text/csv", name="serials.csv", role="sheet")
    body = {"package_id": package, "document_version_id": sheet["document_version_id"]}
    return str(good(await made.api.post(f"/v1/passports/{model}/bulk", json=body))["bulk_id"])


async def _is_done(made: Office, bulk: str, batteries: int) -> bool:
    await asyncio.sleep(0.5)
    found = good(await made.api.get(f"/v1/passports/bulks/{bulk}"))["versions"]
    assert "failed" not in found
    return bool(found.get("active", 0) == batteries)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batteries", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    asyncio.run(main(given.batteries, given.processes))
