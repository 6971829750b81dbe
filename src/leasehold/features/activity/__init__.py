"""Activity: the event stream and the logs of a whole tenant."""

from leasehold.feature import Feature

feature = Feature(
    name="activity",
    package=__name__,
    needs=("flows",),
    server=("poller:open_feed",),
    routes=("routes:routes",),
)
