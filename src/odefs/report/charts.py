"""The charts, written with Altair; the only file that imports Altair and vl-convert.

Charts hold no data: the page's script fills the named sources ``bins``, ``points``, ``cells`` and ``rounds``, and sets the signals: colours,
``cut`` (the threshold), ``flagged`` (how many rows lie above it), ``picked`` (the row that is open) and ``kept`` (the rows the table is
narrowed to).
"""

import os
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from odefs.persist.replacing import replacing

COLOURS = {"ink": "#1c2127", "muted": "#59626d", "line": "#dfe3e8", "accent": "#b23c0e", "paper": "#ffffff"}
"""Signals with the light colours; the page's script sets them from the style sheet."""


def chart_specs(summary: dict[str, Any]) -> dict[str, Any]:
    """Vega-Lite specifications by name."""
    # Altair checks every part against its schema as it is made, which takes longer than all the rest; the tests make them checked.
    with debug_mode(False):
        return {name: _specification(chart) for name, chart in charts(summary).items()}


def charts(summary: dict[str, Any]) -> dict[str, Any]:
    """Altair's charts by name."""
    specs = {"scores": _scores(summary["scores"]["scale"])}
    if summary["map"]:
        specs["map"] = _map()
    training = summary["training"]
    specs["weights"] = _weights(len(training["components"]))
    if any(len(part["objective"]) > 2 for part in training["components"]):
        specs["objective"] = _objective()
    return specs


def static_scores(summary: dict[str, Any]) -> str:
    """The score distribution as a still picture (SVG)."""
    scores = summary["scores"]
    bins = [
        {"low": low, "high": high, "count": n}
        for low, high, n in zip(scores["edges"], scores["edges"][1:], scores["counts"], strict=False)
    ]
    chart = _scores(scores["scale"], scores["short_threshold"]).properties(width=640)
    spec = chart.to_dict()
    spec["data"] = {"values": bins}
    return vl_convert.vegalite_to_svg(spec)


@lru_cache(maxsize=1)
def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script. Bundling takes seconds, so the result is kept in the user's cache folder, by version."""
    kept = _cache_folder() / f"vega-embed-{version('vl-convert-python')}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except OSError:
        pass
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as partial:
            partial.write_text(script, encoding="utf-8")
    except OSError:
        pass  # without a cache the next page takes as long again
    return script


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "odefs"


def _specification(chart: Any) -> dict[str, Any]:
    return chart.to_dict(validate=False)


def _colour(name: str) -> Any:
    return alt.ExprRef(name)


def _either(channel: Any, test: str, yes: Any, no: Any) -> Any:
    """A channel with one value where the test holds and another elsewhere."""
    return channel(no, condition={"test": test, "value": yes})


def _styled(chart: Any, *signals: alt.Parameter) -> Any:
    """Colours as signals, quiet axes, the page's font."""
    colours = [alt.param(name=name, value=value) for name, value in COLOURS.items()]
    font = "system-ui, sans-serif"
    return (
        chart.add_params(*colours, *signals)
        .configure(
            background="transparent",
            font=font,
            padding={"left": 0, "top": 4, "right": 4, "bottom": 8},
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
        .configure_view(stroke=_colour("line"))
        .configure_axis(
            labelColor=_colour("muted"),
            titleColor=_colour("muted"),
            titleFontWeight="normal",
            titleFontSize=12,
            labelFontSize=11,
            gridColor=_colour("line"),
            domainColor=_colour("line"),
            tickColor=_colour("line"),
            domain=False,
            ticks=False,
            labelPadding=6,
            titlePadding=10,
        )
    )


def _scores(scale: Literal["linear", "log"], cut: float = 0.0) -> Any:
    x = alt.X(
        "low:Q",
        bin="binned",
        title="score (training rows average 1)",
        scale=alt.Scale(type=scale, zero=False, nice=False),
        axis=alt.Axis(grid=False, tickCount=8),
    )
    bars = (
        alt.Chart(alt.NamedData("bins"))
        .mark_bar(binSpacing=1)
        .encode(
            x=x,
            x2=alt.X2("high:Q"),
            y=alt.Y(
                "count:Q",
                title="rows (log scale)",
                scale=alt.Scale(type="symlog"),
                # Each label by itself: a format of the axis has one unit for all, and 100 would be 0k.
                axis=alt.Axis(values=[10**k for k in range(10)], labelExpr="format(datum.value, '~s')"),
            ),
            color=_either(alt.ColorValue, "datum.low >= cut", _colour("accent"), _colour("muted")),
            tooltip=[
                alt.Tooltip("low:Q", title="from", format=".3~f"),
                alt.Tooltip("high:Q", title="to", format=".3~f"),
                alt.Tooltip("count:Q", title="rows", format=",d"),
            ],
        )
    )
    rule = (
        alt.Chart(alt.NamedData("cuts"))
        .mark_rule(color=_colour("ink"), strokeWidth=1.5, strokeDash=[5, 3])
        .encode(x=alt.XDatum(_colour("cut"), type="quantitative"))
    )
    return _styled(alt.layer(bars, rule).properties(width="container", height=220), alt.param(name="cut", value=cut))


def _map() -> Any:
    above, picked = "datum.place < flagged", "datum.place === picked"
    beside = "kept !== null && indexof(kept, datum.place) < 0"
    brush = alt.selection_interval(
        name="brush", zoom=False, mark=alt.BrushConfig(fill="#808080", fillOpacity=0.15, stroke="#808080")
    )
    chart = (
        alt.Chart(alt.NamedData("points"), name="rows")
        .mark_point(filled=True, cursor="pointer")
        .encode(
            x=alt.X(
                "x:Q",
                title="first principal component",
                axis=alt.Axis(labels=False, grid=False),
                scale=alt.Scale(padding=16, nice=False),
            ),
            y=alt.Y(
                "y:Q",
                title="second principal component",
                axis=alt.Axis(labels=False, grid=False),
                scale=alt.Scale(padding=16, nice=False),
            ),
            color=_either(alt.ColorValue, above, _colour("accent"), _colour("muted")),
            shape=_either(alt.ShapeValue, above, "triangle-up", "circle"),
            size=_either(alt.SizeValue, above, 64, 22),
            opacity=alt.OpacityValue(0.4, condition=[{"test": beside, "value": 0.08}, {"test": above, "value": 0.9}]),
            tooltip=[alt.Tooltip("name:N"), alt.Tooltip("score:Q", format=".2f")],
        )
        .add_params(brush)
    )
    ring = (
        alt.Chart(alt.NamedData("points"), name="ring")
        .transform_filter(picked)
        .mark_point(filled=False, shape="circle", size=340, strokeWidth=2.5, color=_colour("ink"), opacity=1)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    )
    label = (
        alt.Chart(alt.NamedData("points"), name="label")
        .transform_filter(picked)
        .mark_text(dy=-18, fontSize=12, fontWeight="bold", color=_colour("ink"), limit=160)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("name:N"))
    )
    layered = alt.layer(chart, ring, label).properties(width="container", height=420)
    return _styled(
        layered,
        alt.param(name="flagged", value=0),
        alt.param(name="picked", value=-1),
        alt.param(name="kept", value=None),
    )


def _weights(n_components: int) -> Any:
    step = 1 if n_components <= 12 else 5
    chart = (
        alt.Chart(alt.NamedData("cells"))
        .mark_rect(color=_colour("accent"))
        .encode(
            x=alt.X("column:N", title=None, sort=None, axis=alt.Axis(labelAngle=-60, labelLimit=110)),
            y=alt.Y("component:O", title="component", axis=alt.Axis(values=list(range(step, n_components + 1, step)))),
            opacity=alt.Opacity("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
            tooltip=[
                alt.Tooltip("column:N"),
                alt.Tooltip("component:O"),
                alt.Tooltip("weight:Q", title="weight (largest = 1)"),
            ],
        )
        .properties(width="container", height=max(120, 9 * n_components))
    )
    return _styled(chart)


def _objective() -> Any:
    chart = (
        alt.Chart(alt.NamedData("rounds"))
        .mark_line(color=_colour("accent"), strokeWidth=1, opacity=0.55)
        .encode(
            x=alt.X("round:O", title="round", axis=alt.Axis(grid=False, labelAngle=0, labelOverlap=True)),
            y=alt.Y("objective:Q", title="objective", scale=alt.Scale(zero=False)),
            detail=alt.Detail("component:O"),
        )
        .properties(width="container", height=200)
    )
    return _styled(chart)
