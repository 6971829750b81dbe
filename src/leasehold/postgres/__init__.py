"""The embedded PostgreSQL: its programs, its folder and its server."""

from leasehold.postgres.account import Account, choose_account
from leasehold.postgres.binaries import Binaries, find_binaries
from leasehold.postgres.home import Home, instance_home
from leasehold.postgres.server import Endpoint, Server, ephemeral_home

__all__ = [
    "Account",
    "Binaries",
    "Endpoint",
    "Home",
    "Server",
    "choose_account",
    "ephemeral_home",
    "find_binaries",
    "instance_home",
]
