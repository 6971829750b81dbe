"""What is shown of what sites say: addresses and evidence without their secrets."""

from functools import lru_cache
from typing import Any

from leasehold.redact import redact

_text = lru_cache(maxsize=50_000)(redact)  # the pages of a site name each other again and again


def shown(value: Any) -> Any:
    """The same without API keys, tokens and passwords. Names stay: what a value is called does not make it a secret."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {name: shown(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shown(one) for one in value]
    return value
