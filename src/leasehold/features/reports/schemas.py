"""The bodies of answers about reports."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from leasehold.features.reports.model import Report
from leasehold.job import State


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLinked(Report):
    """A report with a link to it."""

    link: Annotated[str, Field(description="Opens the report without a key, until link_expires_at.")]
    link_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAsked:
    """A report that a job will make."""

    report_id: Annotated[UUID, Field(description="That of its job: the report is there when the job has succeeded.")]
    state: State
