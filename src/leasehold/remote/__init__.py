"""Leasehold over HTTP, for places without a database."""

from leasehold.remote.client import AsyncClient, Client
from leasehold.remote.context import Context, SyncContext
from leasehold.remote.values import Refused, Schedule
from leasehold.remote.worker import Worker

__all__ = ["AsyncClient", "Client", "Context", "Refused", "Schedule", "SyncContext", "Worker"]
