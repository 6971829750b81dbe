"""The examples connect as whoever the user is: their server is that of the plugin."""

from leasehold.testing.plugin import leasehold, leasehold_server

__all__ = ["leasehold", "leasehold_server"]
