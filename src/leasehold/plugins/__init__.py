"""Packs of other distributions, found by their entry points."""
