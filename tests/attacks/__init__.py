"""Attacks on the engine that take minutes: run by hand, each prints one line of JSON with what it found."""
