"""Upgrades: programs of earlier releases are kept here, and run beside today's."""
