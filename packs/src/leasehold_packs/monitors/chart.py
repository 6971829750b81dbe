"""The prices of an offer as the points of a line that goes in steps: a price holds until the next. Pure."""

from dataclasses import dataclass
from datetime import datetime

from leasehold_packs.monitors.model_results import Observation

WIDTH, HEIGHT = 800, 200
_MARGIN = 10
_MOST_DOTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """``points`` are those of an SVG polyline; ``currency`` is the newest one: amounts in others are left out."""

    points: str
    low: str
    high: str
    currency: str
    since: datetime
    dots: list[tuple[float, float, str, datetime]]  # where a price begins, the price, and when


def of(observations: list[Observation], *, until: datetime) -> Chart | None:
    """From observations, the newest first; None if there is nothing to draw."""
    currency = next((one.currency for one in observations if one.price), None)
    steps = [
        (one.at, float(one.price), one.price)
        for one in reversed(observations)
        if one.price and one.currency == currency
    ]
    if not steps or currency is None:
        return None
    first, low, high = steps[0][0], min(steps, key=lambda one: one[1]), max(steps, key=lambda one: one[1])
    whole = max((until - first).total_seconds(), 1.0)
    span = high[1] - low[1] or 1.0
    places: list[tuple[float, float]] = []
    dots: list[tuple[float, float, str, datetime]] = []
    for at, amount, text in steps:
        x = _MARGIN + (WIDTH - 2 * _MARGIN) * min((at - first).total_seconds() / whole, 1.0)
        y = HEIGHT - _MARGIN - (HEIGHT - 2 * _MARGIN) * (amount - low[1]) / span
        places += [(x, places[-1][1])] if places else []
        places.append((x, y))
        dots.append((round(x, 1), round(y, 1), text, at))
    places.append((WIDTH - _MARGIN, places[-1][1]))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Chart(points=points, low=low[2], high=high[2], currency=currency, since=first, dots=dots[-_MOST_DOTS:])
