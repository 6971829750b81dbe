"""What a leader does for flows: go on with those whose steps have ended, and purge old ones."""

from leasehold.database.database import Database
from leasehold.features.flows import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    pause = min(settings.poll_seconds, 0.25)

    async def purge(db: Database) -> int:
        return await store.purge_flows(db, history_days=settings.history_days)

    return [
        MaintenanceTask(
            name="advance flows",
            work=store.tend_flows,
            is_urgent=True,
            at_least_s=pause / 2,
            share=0.5,
            wakes=True,
        ),
        MaintenanceTask(name="purge flows", work=purge, every_s=60.0),
    ]
