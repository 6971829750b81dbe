"""Secrets as their owner may see them."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretInfo:
    """A secret, never its value. ``key_id`` is the key of the installation that seals it."""

    name: str
    key_id: str
    created_at: datetime
    updated_at: datetime
