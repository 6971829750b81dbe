"""Bar charts as SVG that stands inside a page: no script, no fonts, readable in print and by screen readers."""

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 720.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 8.0, 12.0, 48.0
_COLORS = ("#2f6f4f", "#b3402a", "#c98a1b", "#3a5a8c", "#7a4a8c", "#5c6b73", "#8c6d3a", "#2a8c8c")
_MAX_LABELS = 12


def bars(labels: Sequence[str], series: Mapping[str, Sequence[float]], *, title: str) -> str:
    """One bar for each label, the series stacked in their order."""
    highest = max((sum(heights) for heights in zip(*series.values(), strict=True)), default=0.0)
    step, top = _scale(highest)
    inner_h, inner_w = _HEIGHT - _TOP - _BOTTOM, _WIDTH - _LEFT - _RIGHT
    parts = [
        f'<svg role="img" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" xmlns="http://www.w3.org/2000/svg"'
        f' font-family="sans-serif" font-size="11"><title>{escape(title)}</title>'
    ]
    for n in range(round(top / step) + 1):
        y = _TOP + inner_h * (1 - n * step / top)
        parts.append(
            f'<path d="M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}" stroke="#ccc"/>'
            f'<text x="{_LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">{n * step:g}</text>'
        )
    each = inner_w / max(len(labels), 1)
    every = math.ceil(len(labels) / _MAX_LABELS)
    for place, label in enumerate(labels):
        x, base = _LEFT + place * each, _TOP + inner_h
        for color, (name, values) in zip(_COLORS, series.items(), strict=False):
            height = inner_h * values[place] / top
            base -= height
            parts.append(
                f'<rect x="{x + each * 0.1:.1f}" y="{base:.1f}" width="{each * 0.8:.1f}" height="{height:.1f}"'
                f' fill="{color}"><title>{escape(f"{label}: {name} {values[place]:g}")}</title></rect>'
            )
        if place % every == 0:
            parts.append(
                f'<text x="{x + each / 2:.1f}" y="{_HEIGHT - _BOTTOM + 15:g}" text-anchor="middle">'
                f"{escape(label[:24])}</text>"
            )
    for place, (color, name) in enumerate(zip(_COLORS, series, strict=False)):
        x = _LEFT + place * inner_w / len(_COLORS)
        parts.append(
            f'<rect x="{x:.1f}" y="{_HEIGHT - 18:g}" width="10" height="10" fill="{color}"/>'
            f'<text x="{x + 14:.1f}" y="{_HEIGHT - 9:g}">{escape(name[:14])}</text>'
        )
    return "".join([*parts, "</svg>"])


def _scale(highest: float) -> tuple[float, float]:
    """A round step, and a whole number of steps that the highest bar fits under."""
    if not (0 < highest < 1e300):
        return 1.0, 1.0
    raw = highest / 5
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    return step, math.ceil(highest / step) * step
