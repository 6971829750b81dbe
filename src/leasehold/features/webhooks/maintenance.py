"""What a leader does for webhooks: collect events of jobs, send what waits, purge old events."""

from leasehold.database.database import Database
from leasehold.features.webhooks import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    async def purge(db: Database) -> int:
        return await store.purge_events(db, history_days=settings.history_days)

    return [
        MaintenanceTask(
            name="collect job events",
            work=store.collect_job_events,
            at_least_s=1.0,
            every_s=60.0,
            follows=True,
            wakes=True,
        ),
        MaintenanceTask(name="purge webhook events", work=purge, every_s=60.0),
    ]
