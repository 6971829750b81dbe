"""Leasehold runs background work for many customers on the PostgreSQL you already have."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leasehold.csv_lines import csv_line
    from leasehold.errors import LeaseholdError
    from leasehold.features.flows.model import Flow, Step, approval, chain, chord, group, sleep, step, wait_for
    from leasehold.features.schedules.timing import Timing
    from leasehold.fetch.response import Fetched
    from leasehold.job import Enqueued, Job, JobFailed, State
    from leasehold.program.access import Access
    from leasehold.program.app import Leasehold
    from leasehold.program.batches import Item
    from leasehold.program.context import Context, SyncContext, SyncTransaction
    from leasehold.program.kind import Kind
    from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze, storable
    from leasehold.program.transaction import AttemptTransaction, ReadOnlyTransaction, Transaction
    from leasehold.settings import Settings
    from leasehold.typed_options import HandlerOptions, JobOptions, ScheduleOptions, StepOptions

__all__ = [
    "Access",
    "AttemptTransaction",
    "Cancel",
    "Context",
    "Enqueued",
    "Fail",
    "Fetched",
    "Flow",
    "HandlerOptions",
    "Item",
    "Job",
    "JobFailed",
    "JobOptions",
    "Kind",
    "Leasehold",
    "LeaseholdError",
    "ReadOnlyTransaction",
    "Retry",
    "ScheduleOptions",
    "Settings",
    "Snooze",
    "State",
    "Step",
    "StepOptions",
    "SyncContext",
    "SyncTransaction",
    "Timing",
    "Transaction",
    "approval",
    "chain",
    "chord",
    "csv_line",
    "group",
    "sleep",
    "step",
    "storable",
    "wait_for",
]

# Imported when they are first asked for: `leasehold --help` and a program that only imports us stay quick.
_HOMES = {
    "leasehold.program.access": ("Access",),
    "leasehold.program.app": ("Leasehold",),
    "leasehold.program.batches": ("Item",),
    "leasehold.program.context": ("Context", "SyncContext", "SyncTransaction"),
    "leasehold.errors": ("LeaseholdError",),
    "leasehold.features.flows.model": (
        "Flow",
        "Step",
        "approval",
        "chain",
        "chord",
        "group",
        "sleep",
        "step",
        "wait_for",
    ),
    "leasehold.csv_lines": ("csv_line",),
    "leasehold.features.schedules.timing": ("Timing",),
    "leasehold.job": ("Enqueued", "Job", "JobFailed", "State"),
    "leasehold.fetch.response": ("Fetched",),
    "leasehold.program.kind": ("Kind",),
    "leasehold.program.outcomes": ("Cancel", "Fail", "Retry", "Snooze", "storable"),
    "leasehold.program.transaction": ("AttemptTransaction", "ReadOnlyTransaction", "Transaction"),
    "leasehold.settings": ("Settings",),
    "leasehold.typed_options": ("HandlerOptions", "JobOptions", "ScheduleOptions", "StepOptions"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'leasehold' has no attribute {name!r}")
