"""Leasehold runs background work for many customers on the PostgreSQL you already have."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leasehold.app import Leasehold
    from leasehold.batches import Item
    from leasehold.context import Context, SyncContext, SyncTransaction, Transaction
    from leasehold.errors import LeaseholdError
    from leasehold.flows import Flow, approval, chain, chord, group, sleep, step, wait_for
    from leasehold.job import Enqueued, Job, State
    from leasehold.net.answer import Fetched
    from leasehold.outcomes import Cancel, Fail, Retry, Snooze
    from leasehold.settings import Settings

__all__ = [
    "Cancel",
    "Context",
    "Enqueued",
    "Fail",
    "Fetched",
    "Flow",
    "Item",
    "Job",
    "Leasehold",
    "LeaseholdError",
    "Retry",
    "Settings",
    "Snooze",
    "State",
    "SyncContext",
    "SyncTransaction",
    "Transaction",
    "approval",
    "chain",
    "chord",
    "group",
    "sleep",
    "step",
    "wait_for",
]

# Imported when they are first asked for: `leasehold --help` and a program that only imports us stay quick.
_HOMES = {
    "leasehold.app": ("Leasehold",),
    "leasehold.batches": ("Item",),
    "leasehold.context": ("Context", "SyncContext", "SyncTransaction", "Transaction"),
    "leasehold.errors": ("LeaseholdError",),
    "leasehold.flows": ("Flow", "approval", "chain", "chord", "group", "sleep", "step", "wait_for"),
    "leasehold.job": ("Enqueued", "Job", "State"),
    "leasehold.net.answer": ("Fetched",),
    "leasehold.outcomes": ("Cancel", "Fail", "Retry", "Snooze"),
    "leasehold.settings": ("Settings",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'leasehold' has no attribute {name!r}")
