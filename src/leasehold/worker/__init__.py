"""The process that runs attempts."""

from leasehold.worker.worker import Worker

__all__ = ["Worker"]
