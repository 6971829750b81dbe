"""What an operator and a tenant see first: counts, rates and what is wrong."""

from leasehold.feature import Feature

feature = Feature(
    name="overview",
    package=__name__,
    needs=("flows", "jobs", "limits"),
    pages=("pages:pages",),
)
