"""The event loop of commands that run for long."""

from collections.abc import Callable
from typing import Any


def loop_factory() -> Callable[[], Any] | None:
    """uvloop's where it is installed, else Python's own."""
    import importlib

    try:
        factory: Callable[[], Any] = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return factory
