"""The plan of a fit: parameters resolved for the shape of the data, and seeds.

Every random draw of a fit has its own generator, derived only from the seed and the draw's place:
component 7 is the same whether 10 or 500 are trained, on any engine.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from odefs.detectors.base import Detector

LARGE_DATA = 10_000
"""Above this many rows the paper takes m* = 64 outlier examples, otherwise 32."""

BASELINE_ROWS = 512
BASELINE_CELLS = 2**20
"""Rows and cells on which usual contributions are averaged, with at least 64 rows."""

MAX_AUTO_COMPONENTS = 32
"""The most components with ``"auto"``, whatever the paper's number is.

The paper's number grows with the data, and each component scores every row; on a small table it is
two or four, too few for a stable ranking.
"""

MAX_SOLVER_STEPS = 1000

WEIGHT_POWERS = {"root": 0.5, "learned": 1.0, "equal": 0.0}
"""Power of the learned weights in the final scores for each value of ``column_weights``."""


@dataclass(frozen=True)
class Seeds:
    """Independent generators for the draws of one fit.

    Every kind of draw has its own number as the first entry of the spawn key. A new kind takes a
    new number: another numbering would change the results of every seed.
    """

    entropy: int
    within: tuple[int, ...] = ()

    def generator(self, *place: int) -> np.random.Generator:
        return np.random.default_rng(
            np.random.SeedSequence(self.entropy, spawn_key=self.within + place)
        )

    def for_round(self, index: int) -> "Seeds":
        """For a round of learning before the last, with components of its own."""
        return Seeds(self.entropy, (*self.within, 6, index))

    def cross_fit(self) -> "Seeds":
        """For the components that are tested on known outliers."""
        return Seeds(self.entropy, (*self.within, 10))

    def bare(self) -> np.random.Generator:
        """For the references of the bare scores."""
        return self.generator(0)

    def row_sample(self) -> np.random.Generator:
        """For the rows on which normalisers are computed."""
        return self.generator(1)

    def baseline(self) -> np.random.Generator:
        """For the rows on which usual contributions are computed."""
        return self.generator(2)

    def selection(self) -> np.random.Generator:
        """For choosing columns before any component exists, as the competitors do."""
        return self.generator(4)

    def stopping(self) -> np.random.Generator:
        """For the rows that decide when the ranking is stable."""
        return self.generator(5)

    def pilot(self) -> np.random.Generator:
        """For the pilot rows, which are scored before the sweeps."""
        return self.generator(7)

    def full_space(self, index: int, step: int) -> np.random.Generator:
        """For a further member on all columns: its references (step 0), their use (step 1)."""
        return self.generator(8, index, step)

    def chance(self, index: int) -> np.random.Generator:
        """For the random subset that component ``index`` is compared with."""
        return self.generator(9, index)

    def noise(self) -> np.random.Generator:
        """For the columns that others are compared with in search of noise."""
        return self.generator(11)

    def known_cases(self) -> np.random.Generator:
        """For the cells in which known cases lie."""
        return self.generator(12)

    def halves(self) -> np.random.Generator:
        """For the halves of the pilot rows that learned subsets are tested on."""
        return self.generator(13)

    def of_half(self, index: int) -> "Seeds":
        """For the components that learn from one of these halves."""
        return Seeds(self.entropy, (*self.within, 14, index))

    def component(self, index: int) -> np.random.Generator:
        """For everything that component ``index`` draws."""
        return self.generator(3, index)


@dataclass(frozen=True)
class Plan:
    """The checked parameters of the method, named as in the estimator.

    ``trust`` is ``None`` where it is to be measured; other ``"auto"`` values are resolved once the
    candidates are known.
    """

    n_estimators: int | str
    trust: float | None
    damps_noise: bool
    n_outlier_examples: int | str
    unlabeled_ratio: float
    candidate_threshold: float
    n_rounds: int
    loss: str
    standardize_scores: bool
    l1: float
    solver: str
    tol: float
    self_paced: bool | str
    min_weight: float
    column_weights: str
    reference_rows: str
    normalization_rows: int | None
    max_steps: int = MAX_SOLVER_STEPS

    @classmethod
    def of(cls, parameters: Mapping[str, Any], detector: Detector) -> Self:
        """The plan of a fit with the parameters that an estimator has checked."""
        resolved = {
            **parameters,
            "trust": None if parameters["trust"] == "auto" else parameters["trust"],
            "damps_noise": detector.depends_on_scale and parameters["noise_columns"] == "damp",
        }
        # Parameters of the estimator that are not part of the plan, such as n_jobs, are left out.
        names = [field.name for field in fields(cls) if field.name in resolved]
        return cls(**{name: resolved[name] for name in names})

    @property
    def fresh_references(self) -> bool:
        """Whether components draw their own references."""
        return self.reference_rows == "fresh"

    @property
    def weight_power(self) -> float:
        """The power of the learned weights in the final scores."""
        return WEIGHT_POWERS[self.column_weights]

    @property
    def uses_pilot(self) -> bool:
        """Whether anything is decided on the pilot rows."""
        return self.n_estimators == "auto" or self.trust is None or self.n_rounds > 1

    def outlier_examples(self, n_rows: int) -> int:
        """The paper's m*."""
        if self.n_outlier_examples == "auto":
            return 32 if n_rows <= LARGE_DATA else 64
        return int(self.n_outlier_examples)

    def unlabeled_examples(self, n_rows: int) -> int:
        """The paper's m, at most all rows."""
        # At least one row: the ratio may be any positive number.
        return min(n_rows, max(1, round(self.unlabeled_ratio * self.outlier_examples(n_rows))))

    def paper_components(self, n_rows: int, n_candidates: int) -> int:
        """The paper's ``l = 2 ceil(n*/m*)``."""
        return 2 * math.ceil(n_candidates / self.outlier_examples(n_rows))

    def components(self, n_rows: int, n_candidates: int) -> int:
        """The most components there can be: as given, the paper's, or the ``"auto"`` limit."""
        if isinstance(self.n_estimators, int):
            return self.n_estimators
        return (
            self.paper_components(n_rows, n_candidates)
            if self.n_estimators == "paper"
            else MAX_AUTO_COMPONENTS
        )


def sample_rows(n_rows: int, size: int | None, rng: np.random.Generator) -> np.ndarray | None:
    """A seeded sample of row numbers in ascending order; ``None`` stands for all rows."""
    if size is None or n_rows <= size:
        return None
    # Ascending, because engines without random access collect rows in one pass over the blocks.
    return np.sort(rng.choice(n_rows, size=size, replace=False))


def baseline_rows(n_rows: int, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the rows on which usual contributions are computed."""
    rows = sample_rows(n_rows, max(64, min(BASELINE_ROWS, BASELINE_CELLS // n_columns)), rng)
    return np.arange(n_rows) if rows is None else rows
