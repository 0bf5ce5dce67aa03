"""Reviews: outliers found by looking at rows, beside coniferest's AADForest in the same run.

Needs ``pip install coniferest``. Records go to ``results/review.jsonl``, the page is
``docs/explanation/review.md``; ``benchmarks/review_page.py`` writes it.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

import odefs
from benchmarks.data import ELEVEN, folder, load
from benchmarks.result import Result
from benchmarks.review_page import write_review_page
from odefs.experiments.accuracy.plan import MORE

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "results" / "review.jsonl"
LOOKS = (20, 50, 100)
SEEDS = (0, 1)
MOST_ROWS = 30_000
N_KNOWN = 10

Record = dict[str, Any]


def run() -> list[Result]:
    data = folder()
    if data is None:
        return []
    records: list[Record] = []
    for record in _records(data):
        records.append(record)
        print(json.dumps(record), flush=True)
    RECORDS.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return write_review_page(records, ROOT / "docs" / "explanation")


def _records(data: Path) -> Iterator[Record]:
    names = {name: data / f"{name}.npz" for name in ELEVEN} | {
        Path(name).stem: data / name for name in MORE
    }
    for name, path in names.items():
        X, y = _sampled(*load(path))
        group = "eleven" if name in ELEVEN else "fourteen"
        for seed in SEEDS:
            about = {"dataset": name, "group": group, "seed": seed, "n_outliers": int(y.sum())}
            yield {"part": "looks", **about, **_looks(X, y, seed)}
            if group == "eleven":
                yield {"part": "other half", **about, "auc": _other_half(X, y, seed)}
    for shift in (1.6, 1.75, 2.0):
        for seed in range(10):
            yield {"part": "known", "shift": shift, "seed": seed, **_known(shift, seed)}
    for n_rows in (100_000, 1_000_000):
        yield {"part": "speed", "n_rows": n_rows, **_speed(n_rows)}


def _sampled(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(X) <= MOST_ROWS:
        return X, y
    rows = np.sort(np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False))
    return X[rows], y[rows]


def _looks(X: np.ndarray, y: np.ndarray, seed: int) -> Record:
    """Outliers found after each number of looks, and the stated chances with what was found."""
    model = odefs.ODEFS(random_state=seed).fit(X)
    ranking = np.argsort(-model.outlier_scores_, kind="stable")
    hits, chances = _reviewed(odefs.Review(model, X, seed), y, LOOKS[-1])
    return {
        "never updated": _found(y[ranking]),
        "odefs": _found(hits),
        "AADForest": _found(_forest(X, y, seed)),
        "chances": [[round(c, 4), int(hit)] for c, hit in zip(chances, hits, strict=True)],
    }


def _found(hits: np.ndarray) -> list[int]:
    return [int(hits[:looks].sum()) for looks in LOOKS]


def _reviewed(review: odefs.Review, y: np.ndarray, looks: int) -> tuple[np.ndarray, list[float]]:
    chances = []
    for _ in range(min(looks, review.n_rows)):
        row = int(review.next()[0])
        chances.append(review.chance)
        review.tell(row, bool(y[row]))
    return y[review.asked], chances


def _forest(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    from coniferest.aadforest import AADForest
    from coniferest.label import Label

    X = np.ascontiguousarray(X, dtype=np.float32)
    forest = AADForest(n_trees=100, random_seed=seed, n_jobs=1).fit(X)
    scores, seen = forest.score_samples(X), np.zeros(len(y), dtype=bool)
    asked: list[int] = []
    for _ in range(min(LOOKS[-1], len(y))):
        row = int(np.argmin(np.where(seen, np.inf, scores)))
        seen[row] = True
        asked.append(row)
        labels = np.where(y[asked] == 1, Label.ANOMALY, Label.REGULAR)
        forest.fit_known(X, X[asked], labels)
        scores = forest.score_samples(X)
    return y[asked]


def _other_half(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """AUC on rows that were not part of the review, after 0 and each number of looks.

    Models are saved and loaded before they score.
    """
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    own, other = np.sort(order[: len(y) // 2]), np.sort(order[len(y) // 2 :])
    review = odefs.Review(odefs.ODEFS(random_state=seed).fit(X[own]), X[own], seed)
    found = [_auc(review, X[other], y[other])]
    for before, after in zip((0, *LOOKS[:-1]), LOOKS, strict=True):
        _reviewed(review, y[own], after - before)
        found.append(_auc(review, X[other], y[other]))
    return found


def _auc(review: odefs.Review, X: np.ndarray, y: np.ndarray) -> float:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "model.odefs")
        review.model().save(path)
        return round(float(roc_auc_score(y, odefs.load(path).outlier_scores(X))), 4)


def _known(shift: float, seed: int) -> Record:
    """Average precision with ten known outliers, right and wrong ones, of the other rows."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2000, 30)), np.arange(2000) < 40
    X[:40, :3] += shift
    order = rng.permutation(2000)
    X, y = X[order], y[order]
    right = rng.choice(np.flatnonzero(y), N_KNOWN, replace=False)
    wrong = rng.choice(np.flatnonzero(~y), N_KNOWN, replace=False)
    return {
        kind: _precision(X, y, rows, others)
        for kind, rows, others in (
            ("without right", None, right),
            ("right", right, right),
            ("without wrong", None, wrong),
            ("wrong", wrong, wrong),
        )
    }


def _precision(
    X: np.ndarray, y: np.ndarray, known: np.ndarray | None, left_out: np.ndarray
) -> float:
    scores = odefs.ODEFS(random_state=0).fit(X, known_outliers=known).outlier_scores_
    rest = np.setdiff1d(np.arange(len(y)), left_out)
    return round(float(average_precision_score(y[rest], scores[rest])), 4)


def _speed(n_rows: int) -> Record:
    """Seconds of the start and of an answer, and memory above the table and the model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 50)).astype(np.float32)
    X[: n_rows // 1000, :3] += 3
    model = odefs.ODEFS(random_state=0).fit(X)
    start, before = time.perf_counter(), _resident()
    review = odefs.Review(model, X)
    started = time.perf_counter() - start
    times = [_seconds(lambda: _answer(review, n_rows // 1000)) for _ in range(30)]
    return {
        "start": round(started, 2),
        "answer": round(float(np.median(times)), 4),
        "megabytes": round((_resident() - before) / 1e6),
    }


def _answer(review: odefs.Review, n_outliers: int) -> None:
    row = int(review.next()[0])
    review.tell(row, row < n_outliers)


def _seconds(task: Callable[[], None]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
