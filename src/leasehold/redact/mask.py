"""What stands in the place of a secret."""

MASK = "[redacted]"
#: What stands in the place of a value that cannot be looked into: too deep, in itself, or failing to print.
UNREADABLE = "[unredactable]"

#: A part of a text: where it begins and where it ends.
Span = tuple[int, int]
