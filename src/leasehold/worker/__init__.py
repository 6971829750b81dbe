"""The process that runs attempts: ``loop`` claims and finishes, ``execute`` runs one attempt, ``lease`` beats.

The whole walk is in docs/explanation/worker.md.
"""

from leasehold.worker.loop import Worker

__all__ = ["Worker"]
