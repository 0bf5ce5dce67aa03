"""Targets of ``ODEFS()`` and its results."""

from collections.abc import Sequence

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
from odefs.experiments.accuracy.plan import ELEVEN, MORE, short
from odefs.experiments.accuracy.sections import complete, deviations, section
from odefs.experiments.accuracy.trust_section import rank_correlation, trust_and_gain
from odefs.experiments.grid import Record
from odefs.experiments.tables import Table

AUC, P_AT_K, GAIN = 0.828, 0.39, 0.03


def targets(records: Sequence[Record]) -> str:
    """Return the section with one line for each target that has records."""
    part = named(records)
    rows = [
        *_accuracy(part),
        *_gains(part),
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
    known = complete(records, ELEVEN, (DEFAULT,))
    if not known:
        return []
    auc, pk = (mean_over(records, DEFAULT, known, measure) for measure in ("auc", "p@k"))
    errors = [error_of_mean(records, DEFAULT, known, measure) for measure in ("auc", "p@k")]
    where = f"on {len(known)} of the eleven" if len(known) < len(ELEVEN) else "on the eleven"
    return [
        _line(f"mean AUC {where} at least {AUC}", f"{auc:.4f} ± {errors[0]:.4f}", auc >= AUC),
        _line(f"mean p@k {where} at least {P_AT_K}", f"{pk:.4f} ± {errors[1]:.4f}", pk >= P_AT_K),
    ]


def _gains(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    all_gains: dict[str, Gain] = {}
    for datasets, least, where in ((ELEVEN, GAIN, "the eleven"), (MORE, 0.0, "the fourteen")):
        known = complete(records, datasets, (DEFAULT, BARE))
        gains = {
            name: gain for name in known if (gain := paired_gain(records, DEFAULT, BARE, name))
        }
        all_gains |= gains
        if gains:
            mean = float(np.mean([gain.mean for gain in gains.values()]))
            error = float(np.sqrt(np.sum([gain.error**2 for gain in gains.values()])) / len(gains))
            rows.append(
                _line(
                    f"mean gain over the bare detector on {where} at least {least:g}",
                    f"{mean:+.4f} ± {error:.4f}",
                    mean >= least,
                )
            )
    if all_gains:
        worst = min(all_gains, key=lambda name: all_gains[name].mean)
        gain = all_gains[worst]
        losing = [short(name) for name in all_gains if all_gains[name].loses]
        result = (
            f"{', '.join(losing)}"
            if losing
            else f"none; worst {short(worst)}, {gain.mean:+.3f} ± {gain.error:.3f}"
        )
        rows.append(
            _line("no dataset loses more than 0.015 or two standard errors", result, not losing)
        )
    return rows


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
