"""Which database, and as whom: the settings and the running instance decide."""

from typing import Any

from leasehold.database.connection import Limits
from leasehold.database.database import Role, Target
from leasehold.errors import Unreachable
from leasehold.settings import Settings


def target(settings: Settings, role: Role) -> Target:
    """``LEASEHOLD_<ROLE>_URL``, else ``LEASEHOLD_DATABASE_URL`` taking the role, else the instance that is up here."""
    common: dict[str, Any] = {
        "role": role,
        "schema": settings.schema,
        "pooled": settings.pooled,
        "listen_url": settings.listen_url,
        "limits": limits(settings),
    }
    own = {Role.API: settings.api_url, Role.WORKER: settings.worker_url, Role.OPERATOR: settings.operator_url}.get(role)
    if own:
        return Target(url=own, **common)
    if settings.database_url:
        return Target(url=settings.database_url, assume=True, **common)
    from leasehold.postgres import Home, instance_home  # with a URL there is none to be found

    endpoint = Home(instance_home(settings.home)).read_endpoint()
    if endpoint is None:
        raise Unreachable(
            "no Leasehold is up for this folder, and LEASEHOLD_DATABASE_URL is not set",
            hint="start one with `leasehold up`, in this folder or with the same LEASEHOLD_HOME",
        )
    return Target(url=endpoint["urls"][role], role=role, schema=settings.schema, limits=limits(settings))


def limits(settings: Settings) -> Limits:
    """How long the database may take."""
    return Limits(
        connect_seconds=settings.connect_seconds,
        call_seconds=settings.call_seconds,
        long_call_seconds=settings.long_call_seconds,
    )
