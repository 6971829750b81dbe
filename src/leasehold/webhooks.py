"""For receivers of webhooks: ``verify(body, headers, secret)`` returns, or raises BadSignature."""

from leasehold.errors import BadSignature
from leasehold.features.webhooks.signature import PLAIN, SLACK, STANDARD, TIMESTAMPED, Scheme, verify

__all__ = ["PLAIN", "SLACK", "STANDARD", "TIMESTAMPED", "BadSignature", "Scheme", "verify"]
