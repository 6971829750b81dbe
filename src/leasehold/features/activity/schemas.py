"""What a stream of a tenant begins with."""

from dataclasses import dataclass

from leasehold.features.flows.model import FlowInfo
from leasehold.job import JobSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The newest jobs and flows of the tenant."""

    data: list[JobSummary]
    flows: list[FlowInfo]
