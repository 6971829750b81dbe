"""What stands where a secret would stand: is it one, or a placeholder, a word, a piece of code?"""

import base64
import math
import re
from collections import Counter

from leasehold.redact.lazy_patterns import late
from leasehold.redact.mask import MASK, UNREADABLE
from leasehold.redact.names import NOTHING, listed, weight

UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
X_RUN = late(r"[xX]{5}|[*#•]{3}")
SMALL_NUMBER = 10_000_000_000
_NOTHING = listed(
    """true false yes no none null nil undefined unset empty on off required optional missing invalid incorrect wrong
    expired needed and or is are was must not the a an to of in for with from be has too should can will may it this
    that you your we if when then please string str int bytes bool any object type optional[str] on: nan default new"""
)
_TEMPLATE = late(
    r"""\$ (?: \{.* | \(.* | \d | [A-Z_][A-Z0-9_]*\b.* | [a-z_]\w*(?:->|::|\[|\{).* )     # ${x} $(x) $1 $NAME $x->y
      | \#\{.* | \{\{.* | \{[^{}]*\}? | <[^<>]*>? | \[[\w\s]*\]? | % (?: s | \( .* | [A-Z_]+% ) | \.\.\..* | @\w+@
      | &(?:lt|\#x3[cC]|\#60);.*                                                   # <…> in HTML
      | \#[0-9A-Fa-f]{3,8} | 0x[0-9A-Fa-f]{1,8}                                    # a colour, a number""",
    re.VERBOSE | re.DOTALL,
)
_HOLE = late(r"\$?\{[^{}]{0,100}\}")
_MADE_UP_WORDS = late(
    r"fake|dummy|example|change_?-?me|placeholder|redacted|(?:^|[_ -])(?:your|insert|here)(?:[_ -]|$)", re.I
)
_LABEL = late(
    r"(?:confirm|enter|your|new|old|current|repeat|forgot|choose|change|reset|show|hide)(?: [a-z]{1,12}){0,3}"
    r" (?:password|passphrase|token|secret|key)[.:*?!]?",
    re.IGNORECASE,
)
_LETTERS = late(r"[A-Za-z_. -]+")
_WORD = r"(?:[A-Z]?[a-z]{1,14}|[A-Z]{1,14}|[A-Z]?[a-z]{3,14}(?:[A-Z][a-z]{2,14}){1,5})"
WORDS_ONLY = late(rf"_?{_WORD}(?:[_.-]{_WORD})*(?:-v?\d{{1,4}}(?:\.\d{{1,4}}){{1,3}})?")  # jackson-0.11.2
_CODE = late(
    r"""[A-Za-z_$][A-Za-z_$.]*[)}] | (?:[A-Za-z_]\w*(?:\.|->|::))*[A-Za-z_]\w*[(\[]
      | (?:[A-Za-z_]\w*(?:\.|->|::))+[A-Za-z_]\w*$ | \([A-Za-z_] | (?:self|this|cls)(?:\.|->)[A-Za-z_]""",
    re.VERBOSE,
)
_IDENTIFIER = late(r"_?[A-Za-z]\w{0,60}_(?:key|secret|password|token|pass)", re.IGNORECASE)
_CODE_ROOTS = listed("os self process config settings args env ctx request response this app cls params options string")
_HEX_ID = late(UUID)
_CONSTANT_PART = late(r"[A-Z]{2,14}\d{0,3}|\d{1,4}|[A-Z]")


def is_template(value: str) -> bool:
    if _TEMPLATE.fullmatch(value) or value.startswith((MASK, UNREADABLE)):
        return True
    return not any(map(str.isalnum, _HOLE.sub("", value) if "{" in value else value))


def says_nothing(value: str) -> bool:
    """A placeholder, a flag or a name where a secret would stand."""
    if len(value) > 256:
        return False
    if value.lower() in _NOTHING or value in ("0", "1") or is_template(value) or X_RUN.search(value):
        return True
    if _names_a_secret(value):
        return True
    if "[redacted]" in value.lower() or (len(value) >= 16 and len(set(value)) <= 4):
        return True
    return bool(_LETTERS.fullmatch(value) and _MADE_UP_WORDS.search(value))


def _names_a_secret(value: str) -> bool:
    """``$pass``, ``Enter your password``: a variable, a label."""
    return _LABEL.fullmatch(value) is not None or (
        value.startswith("$") and weight(value) > NOTHING and _is_word(value)
    )


def _is_word(value: str) -> bool:
    return len(value) < 40 and WORDS_ONLY.fullmatch(value.lstrip("$")) is not None


def is_reference(value: str) -> bool:
    """Code that names a secret: ``config.password``, ``get_secret(…)``, ``real_key``."""
    if _CODE.match(value):
        root = re.split(r"\W", value, maxsplit=1)[0]
        return bool(re.search(r"[(\[)}]", value)) or root in _CODE_ROOTS or weight(value) > NOTHING
    return _IDENTIFIER.fullmatch(value) is not None


def is_user_and_password(encoded: str) -> bool:
    """user:password in base64, as Basic credentials and Docker's configuration write it."""
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:
        return False


def is_constant(value: str) -> bool:
    """``SASL_SCRAM_SHA_256_PLUS``: how programs call a choice; whole words, and a number between them at most."""
    parts = value.strip("_").split("_")
    words = sum(len(part) > 2 and part.isalpha() for part in parts)
    return words > 1 and all(map(_CONSTANT_PART.fullmatch, parts))


def is_uuid(value: str) -> bool:
    return _HEX_ID.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Long, of letters and digits, and spread out: what a generator makes and people do not."""
    if not 16 <= len(value) <= 4096 or " " in value or "%20" in value or is_uuid(value) or X_RUN.search(value):
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if not digits or not letters or value.count("/") > 3 or "://" in value or value.startswith(("/", "./", "#")):
        return False
    size = len(value)
    bits = -sum(n / size * math.log2(n / size) for n in Counter(value).values())
    return bits >= 3.0 and (digits >= 3 or size >= 24)
