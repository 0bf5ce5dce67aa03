"""Flags of ``contamination="auto"``: on tables without outliers, and beside other thresholds.

Thresholds of pythresh are compared if it is installed (``pip install pythresh``); all methods get
the same scores.
"""

import importlib
import importlib.util
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.result import Result
from odefs import ODEFS, calibrate, detect
from odefs.ensemble.flag_threshold import tail_threshold
from odefs.experiments.sources import is_table, open_frame, open_source

SIZES = (1_000, 10_000, 100_000, 1_000_000)
PYTHRESH_ROWS = 6_000
"""Rows sampled for the methods of pythresh, some of which take time quadratic in the rows."""
RIVALS = (
    *("AUCP", "BOOT", "CHAU", "CLF", "DSN", "EB", "FILTER", "FWFM", "GESD", "HIST", "IQR"),
    *("KARCH", "MAD", "MOLL", "MTT", "QMCD", "REGR", "YJ", "ZSCORE"),
)
"""Methods of pythresh that take seconds at most for these rows."""
N_CONFORMAL, LEVEL = 10, 0.1


def run() -> list[Result]:
    warnings.simplefilter("ignore")
    return [*without_outliers(), *with_planted(), *against_thresholds(), *false_alarms()]


def without_outliers() -> Iterator[Result]:
    """Numbers of flags in tables in which nothing is planted."""
    ordinary, extreme = [], []
    for kind, table in clean_tables():
        flags = _flags(table)
        (extreme if kind == "heavy" else ordinary).append((flags, len(table)))
    flags = np.array([count for count, _ in ordinary])
    yield Result(
        f"flags in {flags.size} tables without outliers, 1,000 to 1,000,000 rows",
        f"median {np.median(flags):.0f}, 90 % quantile {np.quantile(flags, 0.9):.0f}, "
        f"highest {flags.max()}",
        "median at most 3, 90 % quantile at most 10",
        bool(np.median(flags) <= 3 and np.quantile(flags, 0.9) <= 10),
    )
    shuffled = [(_flags(table), len(table)) for table in shuffled_tables()]
    for name, counts in (("heavy-tailed tables", extreme), ("datasets, shuffled", shuffled)):
        shares = np.array([count / n for count, n in counts])
        above = [f"{count} of {n}" for count, n in counts if count / n > 0.005]
        yield Result(
            f"flagged share in {shares.size} {name}",
            f"median {np.median(shares):.3%}, highest {shares.max():.2%}"
            + (f" (above: {', '.join(above)})" if above else ""),
            "at most 0.5 % of the rows",
            not above,
        )


def clean_tables() -> Iterator[tuple[str, np.ndarray | pl.DataFrame]]:
    for n in SIZES:
        rng = np.random.default_rng(n)
        d = 10 if n == max(SIZES) else 15
        factors = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d))
        for table in (
            rng.normal(size=(n, d)),
            rng.random((n, d)),
            factors + 0.3 * rng.normal(size=(n, d)),
            rng.exponential(size=(n, d)),
            np.exp(0.5 * rng.normal(size=(n, d))),
            rng.normal(size=(n, d)) + 6 * np.eye(3, d)[rng.integers(0, 3, n)],
        ):
            yield "ordinary", table
        yield "ordinary", _with_categories(rng, n)
        yield "heavy", rng.standard_t(3, size=(n, d))
        yield "heavy", np.exp(rng.normal(size=(n, d)))


def _with_categories(rng: np.random.Generator, n: int) -> pl.DataFrame:
    frequencies = 1 / np.arange(1, 21)
    return pl.DataFrame(
        {f"x{k}": rng.normal(size=n) for k in range(5)}
        | {
            "five": rng.choice(list("abcde"), n),
            "twenty": rng.choice(20, n, p=frequencies / frequencies.sum()).astype(str),
            "answer": rng.choice(["yes", "no"], n, p=[0.9, 0.1]),
            "count": rng.poisson(3, n),
        }
    )


def with_planted() -> Iterator[Result]:
    """Flags of ordinary rows, and of planted ones, in independent columns."""
    kinds = {
        "one outlier in one of 30 or 50 normal columns": _one_odd_column(1),
        "20 outliers in one of 30 or 50 normal columns": _one_odd_column(20),
        "8 normal columns and one category": _with_one_category(0),
        "the same with five far values in one column": _with_one_category(5),
    }
    for kind, tables in kinds.items():
        false, hits, planted = [], 0, 0
        for table, n_planted in tables:
            flags = detect(table).is_outlier
            false.append(int(flags[n_planted:].sum()))
            hits, planted = hits + int(flags[:n_planted].sum()), planted + n_planted
        yield Result(
            f"flagged ordinary rows in {len(false)} tables: {kind}",
            f"median {np.median(false):.0f}, 90 % quantile {np.quantile(false, 0.9):.0f}, "
            f"highest {max(false)}" + (f"; {hits} of {planted} planted rows" if planted else ""),
            "90 % quantile at most 10",
            bool(np.quantile(false, 0.9) <= 10),
        )


def _one_odd_column(n_planted: int) -> Iterator[tuple[pl.DataFrame, int]]:
    for n in (1_000, 3_000, 20_000):
        for d in (30, 50):
            for seed in range(4):
                X = np.random.default_rng(seed).normal(size=(n, d))
                X[:n_planted, 4] += 8
                yield pl.DataFrame(X), n_planted


def _with_one_category(n_planted: int) -> Iterator[tuple[pl.DataFrame, int]]:
    for n in (500, 2_000, 5_000, 20_000):
        for share in (0.02, 0.05, 0.08, 0.1, 0.15, 0.3):
            for seed in range(2):
                rng = np.random.default_rng(seed)
                columns = {f"x{k}": rng.normal(size=n) for k in range(8)}
                columns["z"] = rng.choice(["a", "b"], n, p=[1 - share, share])
                columns["x3"][:n_planted] = np.linspace(40, 60, n_planted)
                yield pl.DataFrame(columns), n_planted


def shuffled_tables() -> Iterator[np.ndarray]:
    """Matrices of the datasets with the values of each column shuffled."""
    for name in datasets():
        if not is_table(name):
            rng = np.random.default_rng(0)
            X = np.asarray(open_source(name, 0).X)
            X = X[:, rng.permutation(X.shape[1])[:300]]
            yield np.column_stack([rng.permutation(X[:, k]) for k in range(X.shape[1])])


def _flags(table: np.ndarray | pl.DataFrame) -> int:
    if isinstance(table, pl.DataFrame):
        return detect(table).n_flagged
    return int(ODEFS(random_state=0).fit(table).is_outlier_.sum())


def datasets() -> list[str]:
    """Files of datasets with labels in the folder that ODEFS_DATA names."""
    root = Path(os.environ["ODEFS_DATA"])
    return [
        str(path)
        for pattern in ("*.npz", "more/*.npz", "mixed/*.csv")
        for path in sorted(root.glob(pattern))
    ]


def against_thresholds() -> Iterator[Result]:
    """Precision of the flags beside mean + 2 std and pythresh, on the same scores."""
    rules: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "auto": lambda scores: scores > (tail_threshold(scores, 1.0) or np.inf),
        "mean + 2 std": lambda scores: scores > scores.mean() + 2 * scores.std(),
    }
    if importlib.util.find_spec("pythresh"):
        rules |= {f"pythresh {name}": _rival(name) for name in RIVALS}
    found: dict[str, list[tuple[int, int, int]]] = {name: [] for name in rules}
    for name in datasets():
        scores, y = _scores(name)
        for rule, flag in rules.items():
            used, labels = scores, y
            if rule.startswith("pythresh") and scores.size > PYTHRESH_ROWS:
                rows = np.random.default_rng(0).choice(scores.size, PYTHRESH_ROWS, replace=False)
                used, labels = scores[rows], y[rows]
            flags = flag(used)
            found[rule].append((int(labels[flags].sum()), int(flags.sum()), int(labels.sum())))
    measured = {name: Measures.of(counts) for name, counts in found.items()}
    own = measured.pop("auto")
    best = sorted(measured, key=lambda name: -measured[name].precision)
    for name in ["mean + 2 std", *[one for one in best if one != "mean + 2 std"][:3]]:
        other = measured[name]
        yield Result(
            f"precision of flags on {len(found['auto'])} datasets, beside {name}",
            f"{own} against {other}",
            "higher precision, in the mean of the datasets and of all flags",
            own.precision > other.precision and own.pooled > other.pooled,
        )


class Measures:
    """Means over the datasets; a dataset without flags has no precision."""

    def __init__(self, precision: float, pooled: float, recall: float, f1: float) -> None:
        self.precision, self.pooled, self.recall, self.f1 = precision, pooled, recall, f1

    @classmethod
    def of(cls, counts: list[tuple[int, int, int]]) -> "Measures":
        hits, flags, outliers = np.array(counts).T
        some = flags > 0
        return cls(
            float(np.mean(hits[some] / flags[some])),
            float(hits.sum() / max(1, flags.sum())),
            float(np.mean(hits / outliers)),
            float(np.mean(2 * hits / (flags + outliers))),
        )

    def __str__(self) -> str:
        return (
            f"{self.precision:.3f} (of all flags {self.pooled:.3f}; recall {self.recall:.3f}, "
            f"F1 {self.f1:.3f})"
        )


def _scores(name: str) -> tuple[np.ndarray, np.ndarray]:
    if is_table(name):
        frame, y = open_frame(name)
        return detect(frame).scores, y
    source = open_source(name, 0)
    return ODEFS(random_state=0).fit(source.X).outlier_scores_, source.y


def _rival(name: str) -> Callable[[np.ndarray], np.ndarray]:
    method = getattr(importlib.import_module(f"pythresh.thresholds.{name.lower()}"), name)

    def flag(scores: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(method(random_state=0).eval(scores)).astype(bool)
        except TypeError:  # no random_state
            return np.asarray(method().eval(scores)).astype(bool)
        except Exception:  # some methods fail on some scores
            return np.zeros(scores.size, dtype=bool)

    return flag


def false_alarms() -> Iterator[Result]:
    """P-values of new rows without outliers: how many are at most ``LEVEL``."""
    names = [name for name in datasets() if not is_table(name)]
    shares, errors = [], []
    for name in names:
        source = open_source(name, 0)
        clean = np.asarray(source.X)[source.y == 0]
        rows = np.random.default_rng(0).permutation(len(clean))[:30_000]
        trained, reference, new = np.array_split(clean[rows], 3)
        if len(new) < 1000 or len(shares) == N_CONFORMAL:
            continue
        p = calibrate(ODEFS(random_state=0).fit(trained), reference).p_values(new)
        shares.append(float(np.mean(p <= LEVEL)))
        # Both the reference and the new rows are samples.
        errors.append(float(np.sqrt(LEVEL * (1 - LEVEL) * (1 / len(new) + 1 / len(reference)))))
    away = np.abs(np.array(shares) - LEVEL) / np.array(errors)
    yield Result(
        f"false alarms of p-values at {LEVEL:.0%} on clean new rows of {len(shares)} datasets",
        f"{min(shares):.1%} to {max(shares):.1%}; {np.sum(away <= 2)} within two standard errors "
        f"of the level, the furthest {away.max():.1f} away",
        "all but one in twenty within two standard errors",
        bool(np.sum(away > 2) <= 1),
    )
