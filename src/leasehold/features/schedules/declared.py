"""What a worker does about schedules when it starts; firing them is a maintenance task."""

from leasehold.database.database import Database
from leasehold.features.schedules import store as schedules
from leasehold.program.app import Leasehold
from leasehold.settings import Settings


async def declare(db: Database, app: Leasehold, settings: Settings) -> None:
    """Bring the schedules that the app declares into the database."""
    await app.introduce(db)  # their jobs go there
    await schedules.sync(db, app.declared_schedules(), tenant=settings.tenant)
