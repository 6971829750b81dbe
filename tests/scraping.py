"""What a scrape says, read back."""

import re

#: Values by the metric's name, without our prefix, and by its labels.
Read = dict[str, dict[frozenset[tuple[str, str]], float]]


def parsed(text: str) -> Read:
    """Every line is understood."""
    found: Read = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            matched = re.fullmatch(r"leasehold_(\w+)(?:\{(.*)\})? (\S+)", line)
            assert matched, line
            labels = frozenset(re.findall(r'(\w+)="([^"]*)"', matched[2] or ""))
            found.setdefault(matched[1], {})[labels] = float(matched[3])
    return found
