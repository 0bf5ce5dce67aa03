"""SVG picture of the score distribution, for notebook viewers without frames and scripts."""

import math
from collections.abc import Callable, Sequence
from typing import Any

WIDTH, HEIGHT = 640, 220
LEFT, TOP, RIGHT, BOTTOM = 50, 6, 6, 44
INK, MUTED, LINE, ACCENT = "#1c2127", "#59626d", "#dfe3e8", "#b23c0e"
"""Colours of the page's light theme."""
TICKS = 6


def static_scores(scores: dict[str, Any]) -> str:
    """Draw the histogram with a logarithmic count axis, and the threshold as a dashed line."""
    edges, counts, cut = scores["edges"], scores["counts"], scores["short_threshold"]
    bottom = TOP + HEIGHT
    x = _scale(
        edges[0], edges[-1], LEFT, LEFT + WIDTH, math.log10 if scores["scale"] == "log" else float
    )
    y = _scale(0, max(1, *counts), bottom, TOP, math.log1p)
    parts = [
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" '
        f'fill="none" stroke="{LINE}"/>'
    ]
    for power in range(int(math.log10(max(1, *counts))) + 1):
        at = y(10**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}h{WIDTH}" stroke="{LINE}"/>')
        parts.append(_text(LEFT - 6, at + 4, f"{10**power:,}", "end"))
    parts += [_text(x(tick), bottom + 17, f"{tick:g}") for tick in _ticks(edges, scores["scale"])]
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        width = max(0.5, x(high) - x(low) - 1)
        fill = ACCENT if low >= cut else MUTED
        parts.append(
            f'<rect x="{x(low):.1f}" y="{y(count):.1f}" width="{width:.1f}" '
            f'height="{bottom - y(count):.1f}" fill="{fill}"/>'
        )
    # A threshold outside the axis stands just inside the frame.
    at = LEFT + 3 if cut < edges[0] else LEFT + WIDTH - 3 if cut > edges[-1] else x(cut)
    parts.append(
        f'<path d="M{at:.1f} {TOP}v{HEIGHT}" stroke="{INK}" '
        'stroke-width="1.5" stroke-dasharray="5 3"/>'
    )
    parts.append(_text(LEFT + WIDTH / 2, bottom + 36, "score (training rows average 1)"))
    parts.append(
        f'<text transform="translate(11 {TOP + HEIGHT / 2}) rotate(-90)" '
        'text-anchor="middle">rows (log scale)</text>'
    )
    whole_width, whole_height = LEFT + WIDTH + RIGHT, bottom + BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole_width}" height="{whole_height}" '
        f'viewBox="0 0 {whole_width} {whole_height}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{MUTED}">'
        f"{''.join(parts)}</svg>"
    )


def _scale(
    low: float, high: float, start: float, end: float, shape: Callable[[float], float]
) -> Callable[[float], float]:
    first = shape(low)
    width = (shape(high) - first) or 1.0
    return lambda value: start + (shape(value) - first) / width * (end - start)


def _ticks(edges: Sequence[float], scale: str) -> list[float]:
    """Return round numbers within the edges: powers of ten on a log axis, else 1-2-5 steps."""
    low, high = edges[0], edges[-1]
    if scale == "log":
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        return [float(f"1e{power}") for power in powers][:: max(1, len(powers) // TICKS)]
    rough = ((high - low) or 1.0) / TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
    return [
        float(f"{place * step:.12g}")
        for place in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]


def _text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    # Contents are numbers and words of this module, so nothing is escaped.
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'
