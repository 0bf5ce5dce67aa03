"""Values compared within groups of rows (``by``): what is found, and what it costs.

The volume of one of 24 sources falls by 80 % while the others make up for it, so that neither the
total nor the range of volumes shows anything. Each source in turn is the one that falls.
"""

import time

import numpy as np
import polars as pl

from benchmarks.result import Result
from odefs.detection import detect
from odefs.tables.detect import score_table
from odefs.tables.table import table_of

N_SOURCES, DAYS, NEW_DAYS = 24, 90, 5
FALL = 0.8
ROWS, COLUMNS, GROUPS = 200_000, 20, 50
REPEATS = 3


def run() -> list[Result]:
    within, pooled = (np.array(fallen_percentiles(by)) for by in (("source",), ()))
    found = [
        Result(
            f"volume of one of {N_SOURCES} sources falls by {FALL:.0%}: percentile of its rows, "
            "--by source",
            f"mean {within.mean():.1f}, least {within.min():.1f}",
            "at least 95",
            bool(within.min() >= 95),
        ),
        Result(
            "the same without --by",
            f"mean {pooled.mean():.1f}, median {np.median(pooled):.1f}",
            "mean under 60",
            bool(pooled.mean() < 60),
        ),
    ]
    for name, frame, by in (
        (f"{ROWS:,} x {COLUMNS} numbers, {GROUPS} groups", numbers(), "group"),
        ("53,940 x 7 like a price list, 5 groups", price_list(), "cut"),
    ):
        ratio, with_by, without = cost(frame, by)
        found.append(
            Result(
                f"detect with by against without, {name}",
                f"{ratio:.2f} x ({with_by:.2f} s, {without:.2f} s)",
                "at most 1.5 x",
                ratio <= 1.5,
            )
        )
    return found


def history(seed: int = 0) -> tuple[np.ndarray, pl.DataFrame]:
    """Usual volumes of the sources, and the volumes of clean days."""
    rng = np.random.default_rng(seed)
    usual = rng.permutation(np.geomspace(50, 50_000, N_SOURCES))
    return usual, _days(rng, usual, DAYS)


def fallen_percentiles(by: tuple[str, ...], seed: int = 0) -> list[float]:
    """Mean percentile of the fallen source's rows among the scores of training rows, per source.

    The percentile of a row is the share of training rows with a lower score, in percent.
    """
    usual, clean = history(seed)
    found = detect(clean, by=by)
    trained = np.sort(found.scores)
    percentiles = []
    for source in range(N_SOURCES):
        rng = np.random.default_rng([seed, source])
        changed = usual.copy()
        changed[source] *= 1 - FALL
        others = np.arange(N_SOURCES) != source
        changed[others] *= (usual.sum() - changed[source]) / usual[others].sum()
        new = _days(rng, changed, NEW_DAYS)
        scored, _ = score_table(table_of(new), found.model, found.encoder)
        rows = (new["source"] == _name(source)).to_numpy()
        below = np.searchsorted(trained, scored.scores[rows]) / trained.size
        percentiles.append(float(100 * below.mean()))
    return percentiles


def _days(rng: np.random.Generator, usual: np.ndarray, days: int) -> pl.DataFrame:
    volume = usual * rng.lognormal(0, 0.15, (days, usual.size))
    return pl.DataFrame(
        {
            "source": [_name(k) for k in range(usual.size)] * days,
            "volume": np.round(volume).astype(np.int64).ravel(),
            "mean_size": rng.gamma(5, 20, volume.size).round(1),
            "error_rate": rng.beta(2, 200, volume.size).round(4),
        }
    )


def _name(source: int) -> str:
    return f"source {source + 1}"


def numbers() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    groups = rng.integers(GROUPS, size=ROWS)
    levels = rng.normal(0, 5, (GROUPS, COLUMNS - 1))
    values = levels[groups] + rng.normal(size=(ROWS, COLUMNS - 1))
    return pl.DataFrame(
        {"group": [f"g{k}" for k in groups.tolist()]}
        | {f"x{k}": values[:, k] for k in range(COLUMNS - 1)}
    )


def price_list() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    n = 53_940
    cut = rng.choice(5, n, p=[0.03, 0.09, 0.22, 0.26, 0.4])
    carat = rng.lognormal(-0.4, 0.5, n).round(2)
    size = carat ** (1 / 3) * 6.4
    return pl.DataFrame(
        {
            "carat": carat,
            "cut": np.array(["fair", "good", "very good", "premium", "ideal"])[cut],
            "colour": np.array(list("DEFGHIJ"))[rng.integers(7, size=n)],
            "depth": rng.normal(61.7, 1.4, n).round(1),
            "price": np.round(4000 * carat**1.7 * rng.lognormal(0, 0.2, n)).astype(np.int64),
            "x": (size + rng.normal(0, 0.05, n)).round(2),
            "z": (0.62 * size + rng.normal(0, 0.05, n)).round(2),
        }
    )


def cost(frame: pl.DataFrame, by: str) -> tuple[float, float, float]:
    """Time with ``by`` divided by the time without, and both times: the best of some runs."""
    times: dict[str, list[float]] = {"": [], by: []}
    for _ in range(REPEATS):
        for chosen in times:
            start = time.perf_counter()
            detect(frame, by=[chosen] if chosen else [])
            times[chosen].append(time.perf_counter() - start)
    with_by, without = min(times[by]), min(times[""])
    return with_by / without, with_by, without
