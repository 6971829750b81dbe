"""Leasehold over HTTP, for places without a database: ``Client``, ``AsyncClient`` and ``Worker``.

Nothing here needs the database driver or anything else that is compiled: httpx2 and the standard library are enough.
"""

from leasehold.remote.client import AsyncClient, Client
from leasehold.remote.context import Context, SyncContext
from leasehold.remote.values import Refused, Schedule
from leasehold.remote.worker import Worker

__all__ = ["AsyncClient", "Client", "Context", "Refused", "Schedule", "SyncContext", "Worker"]
