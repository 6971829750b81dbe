"""Packs that come with Leasehold: ordinary users of its public API, found by the same entry points as anybody's."""
