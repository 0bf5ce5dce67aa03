"""Targets of ``ODEFS()`` and its results."""

from collections.abc import Mapping, Sequence

import numpy as np

from odefs.experiments.accuracy.measures import (
    BARE,
    DEFAULT,
    PAPER,
    Gain,
    error_of_mean,
    mean_over,
    named,
    paired_gain,
)
from odefs.experiments.accuracy.noise import judged, shown
from odefs.experiments.accuracy.plan import DETECT, DETECT_BARE, ELEVEN, MIXED, MORE, short
from odefs.experiments.accuracy.sections import complete, deviations, section
from odefs.experiments.accuracy.trust_section import rank_correlation, trust_and_gain
from odefs.experiments.accuracy.value_frequencies import BASELINES
from odefs.experiments.grid import Record
from odefs.experiments.tables import Table

LEAST = {"the eleven": (ELEVEN, 0.840, 0.415), "the fourteen": (MORE, 0.805, 0.33)}
"""By the name of a group: its datasets, and the least mean AUC and p@k."""
GAIN = 0.03
LARGEST_MEAN_LOSS = 0.002
MIXED_AUC = 0.87


def targets(records: Sequence[Record]) -> str:
    """Return the section with one line for each target that has records."""
    part = named(records)
    rows = [
        *_accuracy(part),
        *_gains(part),
        *_mixed(records),
        *_steadiness(records),
        *_noise(records),
        *_trust(records),
    ]
    if not rows:
        return ""
    return section(
        "Targets",
        "Means with their standard error over the seeds.",
        Table("", ["target", "result", "reached"], rows).markdown(),
    )


def _line(target: str, result: str, met: bool) -> list[str]:
    return [target, result, "yes" if met else "**no**"]


def _accuracy(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for group, (datasets, *least) in LEAST.items():
        known = complete(records, datasets, (DEFAULT,))
        where = group if len(known) == len(datasets) else f"{len(known)} of {group}"
        for measure, title, limit in zip(("auc", "p@k"), ("AUC", "p@k"), least, strict=True):
            if known:
                mean = mean_over(records, DEFAULT, known, measure)
                error = error_of_mean(records, DEFAULT, known, measure)
                target = f"mean {title} on {where} at least {limit:.3f}"
                rows.append(_line(target, f"{mean:.4f} ± {error:.4f}", mean >= limit))
    return rows


def _mixed(records: Sequence[Record]) -> list[list[str]]:
    known = complete(records, MIXED, (DETECT, DETECT_BARE, *BASELINES))
    if not known:
        return []
    ours, bare, *others = (
        mean_over(records, method, known, "auc") for method in (DETECT, DETECT_BARE, *BASELINES)
    )
    compared = ", ".join(
        f"`{name}` {value:.3f}" for name, value in zip(BASELINES, others, strict=True)
    )
    return [
        _line(
            f"mean AUC of `{DETECT}` on tables with categories at least {MIXED_AUC}, and above "
            "that of both baselines",
            f"{ours:.4f}; {compared}",
            ours >= max(MIXED_AUC, *others),
        ),
        _line(
            f"mean gain over the bare detector there not below -{LARGEST_MEAN_LOSS}",
            f"{ours - bare:+.4f}",
            ours - bare >= -LARGEST_MEAN_LOSS,
        ),
    ]


def _gains(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    all_gains: dict[str, Gain] = {}
    for datasets, least, where in (
        (ELEVEN, GAIN, "the eleven"),
        (MORE, -LARGEST_MEAN_LOSS, "the fourteen"),
    ):
        known = complete(records, datasets, (DEFAULT, BARE))
        gains = {
            name: gain for name in known if (gain := paired_gain(records, DEFAULT, BARE, name))
        }
        all_gains |= gains
        if gains:
            rows.append(_mean_gain(list(gains.values()), least, where))
    if all_gains:
        rows.append(_largest_loss(all_gains))
    return rows


def _mean_gain(gains: Sequence[Gain], least: float, where: str) -> list[str]:
    mean = float(np.mean([gain.mean for gain in gains]))
    error = float(np.sqrt(np.sum([gain.error**2 for gain in gains])) / len(gains))
    return _line(
        f"mean gain over the bare detector on {where} at least {least:g}",
        f"{mean:+.4f} ± {error:.4f}",
        mean >= least,
    )


def _largest_loss(gains: Mapping[str, Gain]) -> list[str]:
    worst = min(gains, key=lambda name: gains[name].mean)
    losing = [short(name) for name, gain in gains.items() if gain.loses]
    result = (
        ", ".join(losing)
        if losing
        else f"none; worst {short(worst)}, {gains[worst].mean:+.3f} ± {gains[worst].error:.3f}"
    )
    return _line("no dataset loses more than 0.015 or two standard errors", result, not losing)


def _steadiness(records: Sequence[Record]) -> list[list[str]]:
    return [
        _line(
            f"standard deviation over the seeds on {name} at most half that of `{PAPER}`",
            f"{a:.4f} against {b:.4f}",
            a <= b / 2,
        )
        for name, (a, b, _) in deviations(records).items()
    ]


def _noise(records: Sequence[Record]) -> list[list[str]]:
    close, behind, _ = judged(records)
    if not close and not behind:
        return []
    result = f"on {len(close)} of {len(close) + len(behind)}" + (
        f"; not on {', '.join(map(shown, behind))}" if behind else ""
    )
    return [
        _line(
            "with noise columns first, or within 0.01 or one standard error, where the bare "
            "detector is above 0.6",
            result,
            not behind,
        )
    ]


def _trust(records: Sequence[Record]) -> list[list[str]]:
    points = trust_and_gain(records)
    if len(points) < 3:
        return []
    found = rank_correlation(points)
    return [
        _line(
            "`trust_` correlates with the true gain of the subsets (above 0)",
            f"rank correlation {found:.2f} over {len(points)} datasets",
            found > 0,
        )
    ]
