"""What a leader does for blobs: remove objects that no row names any more."""

from leasehold.database.database import Database
from leasehold.features.blobs import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    if not settings.objects_url:
        return []

    async def remove(db: Database) -> int:
        from leasehold.features.blobs.object_store import ObjectStore  # it loads an HTTP client

        async with ObjectStore(settings) as objects:
            return await store.remove_loose(db, objects)

    return [MaintenanceTask(name="remove orphaned objects", work=remove, every_s=60.0)]
