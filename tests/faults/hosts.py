"""Hosts: network namespaces of this machine, each on a cable of its own to the database."""

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

IP = shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """``gateway`` is where this host finds the database."""

    name: str
    cable: str
    gateway: str

    @property
    def command(self) -> tuple[str, ...]:
        """Before a program that shall run there."""
        return (str(IP), "netns", "exec", self.name)

    def pull_cable(self) -> None:
        _ip("link", "set", self.cable, "down")

    def plug_cable(self) -> None:
        _ip("link", "set", self.cable, "up")


def can_be_made() -> bool:
    if not IP or os.geteuid() != 0:
        return False
    name = f"lh-{uuid.uuid4().hex[:8]}"
    if subprocess.run([IP, "netns", "add", name], capture_output=True).returncode != 0:
        return False
    _ip("netns", "delete", name)
    return True


@contextmanager
def host(number: int) -> Iterator[Host]:
    """One with the addresses 10.211.number.1 (here) and .2 (there)."""
    mark = uuid.uuid4().hex[:8]
    name, near, far = f"lh-{mark}", f"lhn-{mark}", f"lhf-{mark}"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        _ip("address", "add", f"10.211.{number}.1/30", "dev", near)
        _ip("link", "set", near, "up")
        _ip("-n", name, "address", "add", f"10.211.{number}.2/30", "dev", far)
        _ip("-n", name, "link", "set", far, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield Host(name=name, cable=near, gateway=f"10.211.{number}.1")
    finally:
        _ip("netns", "delete", name)


def _ip(*arguments: str) -> None:
    subprocess.run([str(IP), *arguments], check=True, capture_output=True)
