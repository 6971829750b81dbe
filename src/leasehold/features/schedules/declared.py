"""What a worker does about schedules when it starts; firing them is one of the chores of ``maintain``."""

from leasehold.app import Leasehold
from leasehold.engine import schedules
from leasehold.engine.database import Database
from leasehold.settings import Settings


async def declare(db: Database, app: Leasehold, settings: Settings) -> None:
    """Bring the schedules that the app declares into the database."""
    await app.introduce(db)  # their jobs go there
    await schedules.sync(db, app.declared_schedules(), tenant=settings.tenant)
