"""The event loop of commands that run for long, and the signals that stop them."""

import asyncio
import signal
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


def on_stop(stop: Callable[[], object]) -> None:
    """Call this at every Ctrl-C and SIGTERM, and once when the terminal is closed, unless `nohup` keeps that away."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return
    hung_up = False

    def hang_up() -> None:
        nonlocal hung_up
        if not hung_up:  # the shell and the kernel may each say it
            hung_up = True
            stop()

    loop.add_signal_handler(signal.SIGHUP, hang_up)
