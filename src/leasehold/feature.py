"""A feature: what one folder below ``leasehold.features``, or a pack from elsewhere, adds to the kernel.

The kernel imports no feature. It knows their names, and loads a part of one when it needs that
part: a worker loads no routes, the command line no handlers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: In the order of the dashboard's navigation and of the help.
NAMES = (
    "overview",
    "jobs",
    "flows",
    "schedules",
    "limits",
    "webhooks",
    "workers",
    "tenants",
    "api_keys",
    "people",
    "secrets",
    "reports",
    "blobs",
    "fetching",
    "http_request",
    "activity",
    "audit_log",
    "demo",
)
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Parts are named ``"module:name"``, relative to the feature's ``package``; ``":name"`` stands in it itself."""

    name: str
    package: str
    #: Other features whose code or tables it uses: their tables come first, and it leaves with them.
    needs: tuple[str, ...] = ()
    #: Apps with its kinds and their handlers.
    kinds: tuple[str, ...] = ()
    #: Functions of the settings that list what a leading worker does now and then.
    maintenance: tuple[str, ...] = ()
    #: Functions that find who calls: of a request, the services and whether tickets are let in, to a
    #: ``Caller``; None where the request brings nothing that is theirs.
    authenticate: tuple[str, ...] = ()
    #: Functions of the operator's database, the settings and an address that make a link which signs
    #: the operator in once; `leasehold up` prints it.
    login_link: tuple[str, ...] = ()
    #: Functions of the services that open what the HTTP server holds for this feature, as async
    #: context managers; ``services.part(type)`` finds it.
    server: tuple[str, ...] = ()
    #: Routers of the HTTP API.
    routes: tuple[str, ...] = ()
    #: Pages of the dashboard; their templates stand in the folder ``templates``.
    pages: tuple[str, ...] = ()
    #: Commands of ``leasehold`` by name: a function, or a Typer with commands of its own.
    commands: Mapping[str, str] = field(default_factory=lambda: _NONE)
    #: SQL functions that the kernel calls: one of ``engine/sql/hooks`` calls those of all features.
    #: Jobs that have been put into ready may go elsewhere; rows of a lane may not start now.
    before_ready: tuple[str, ...] = ()
    before_claim: tuple[str, ...] = ()
    #: Jobs have started; give up what they had taken; have ended.
    after_claim: tuple[str, ...] = ()
    after_leave: tuple[str, ...] = ()
    after_finish: tuple[str, ...] = ()
    #: What a leader has to do now, and when next.
    due: tuple[str, ...] = ()
    #: Why a job waits, and numbers for Prometheus.
    explain: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    #: Of packs: short addresses beside ``/v1``, such as ``/p``, for routes that anybody may read.
    addresses: tuple[str, ...] = ()
    #: Of packs: a function that says at which hosts of tenants such routes answer, too.
    public_hosts: str | None = None

    def load(self, part: str) -> Any:
        module, _, name = part.partition(":")
        return getattr(import_module(f"{self.package}.{module}" if module else self.package), name)

    def folder(self, name: str) -> "Traversable | None":
        """A folder of files in the package, such as ``sql`` or ``templates``, if it has one."""
        from importlib.resources import files  # it takes longer to import than all features

        found = files(self.package) / name
        return found if found.is_dir() else None


@cache
def features() -> tuple[Feature, ...]:
    """The features of this installation, in their order."""
    return tuple(import_module(f"leasehold.features.{name}").feature for name in NAMES)


def load_all(parts: str) -> Iterator[Any]:
    """What all features name in the field ``parts``, loaded."""
    for feature in features():
        for part in getattr(feature, parts):
            yield feature.load(part)
