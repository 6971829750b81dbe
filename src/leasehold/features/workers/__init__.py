"""Workers: the list of those that are alive, and the protocol of remote ones."""

from leasehold.feature import Feature

feature = Feature(
    name="workers",
    package=__name__,
    needs=("api_keys",),
    server=("long_poll:open_ready",),
    routes=("routes:routes", "routes_remote:routes"),
    pages=("pages:pages",),
    commands={"workers": "commands:workers"},
)
