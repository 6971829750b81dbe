"""Blobs: large bodies by their digest, in the database or in an object store."""

from leasehold.feature import Feature

feature = Feature(
    name="blobs",
    package=__name__,
    maintenance=("maintenance:tasks",),
)
