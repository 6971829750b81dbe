"""A real PostgreSQL for the tests of programs that use Leasehold."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leasehold.testing.kit import Kit
    from leasehold.testing.server import TemplateServer
    from leasehold.testing.sync import KitSync

__all__ = ["Kit", "KitSync", "TemplateServer"]

# Imported when they are first asked for: pytest loads our plugin for every project in the environment.
_HOMES = {
    "Kit": "leasehold.testing.kit",
    "KitSync": "leasehold.testing.sync",
    "TemplateServer": "leasehold.testing.server",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'leasehold.testing' has no attribute {name!r}")
