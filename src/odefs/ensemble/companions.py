"""Further detectors in the ensemble, and how much weight they get: ``detector="auto"``.

Distances say little about columns with few values: most rows are equally far from each other there.
:class:`odefs.detectors.CouplingDetector` scores the values of all columns. And among a few columns
of numbers, a row may break their relation although it is near to others in each column:
:class:`odefs.detectors.RelationsDetector` scores these. It takes no part where there are many
columns of numbers, among which distances are the better guide.

With ``S`` the score of all other components and ``C`` that of a companion, both with mean 1, the
ranking is that of ``z(S) + weight z(C)``. The weight of coupling grows with the share that discrete
columns have in the variance of the scaled table, that of relations with the share of the others and
with how well these explain each other. Both fall with the trust in learned subsets: these have
found the columns that matter, and companions score all of them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.detectors.coupling import CouplingDetector
from odefs.detectors.relations import RelationsDetector, explained_shares
from odefs.detectors.value_cuts import FEW_VALUES, cut_columns, some_rows
from odefs.ensemble.model import Component
from odefs.ensemble.pilot import PilotSample

# The tables and constants that were tried are in docs/explanation/research-log.md, in the section
# "Companions of the distances".

COUPLING_WEIGHT = 1.5
"""Weight of coupling where all columns are discrete and nothing learned is trusted."""

ROWS_PER_VALUE = 100
"""Columns of three and more values, which may be ordered, are discrete if there are at least this
many rows per value. In fewer rows, rare values of numbers are chance: on the digits of
scikit-learn, 190 rows, coupling would lower the average precision by 0.05.
"""

DOMINANT_SHARE = 0.8
"""Columns of which one value has this share are discrete, however many others there are: amounts
that are mostly zero, say. Among the ordinary rows of a relation they are constant, and every other
amount would break it.
"""

RELATIONS_WEIGHT = 1.0
"""Weight of relations in a table of few columns, all of them numbers.

Twice as much lets the numbers of mixed tables drown their categories.
"""

FEW_COLUMNS = (10, 16)
"""Columns of numbers up to which relations have their full weight, and from which they have none.

With abalone (7) and mammography (6) relations rank better, with pendigits (16) far worse.
"""

RELATED_SHARE = (0.2, 0.5)
"""Mean share of a column's variance that the others explain: below the first number relations have
no weight, from the second on their full weight.

Among unrelated columns a Mahalanobis distance is the distance from the centre of the table, which
misleads where ordinary rows form several clusters or a ring (research log, "Strength of the
relations").
"""

SMALLEST_WEIGHT = 0.05
"""A companion with less does not join, since it scores every row and hardly moves one.

If the companion's score is unrelated to the others, adding 0.05 of it leaves a correlation of
``1 / sqrt(1 + 0.05^2)``, which is 0.999, with the score without it.
"""

SMALLEST_SPREAD = 1e-9
"""Scores have mean 1: a smaller standard deviation is rounding."""

COMPANIONS = (CouplingDetector, RelationsDetector)


@dataclass(frozen=True, eq=False)
class _Companion:
    detector: Detector
    columns: np.ndarray
    weight: float
    prepare: Callable[[], Any]
    """Learns the state of the detector from the pilot rows."""


def with_companions(
    pilot: PilotSample, components: Sequence[Component], trust: float, noise: np.ndarray
) -> tuple[list[Component], list[Component]]:
    """The components with less weight, and the companions with the rest of it.

    The weights keep their sum, so that training scores still average 1.0. ``noise`` are
    columns that are related to no others.
    """
    found = [
        one for one in _companions(pilot.X, noise) if one.weight * (1 - trust) >= SMALLEST_WEIGHT
    ]
    if not found:
        return list(components), []
    scores = pilot.few_scores(components)
    spread = float((np.array([one.weight for one in components]) @ scores).std())
    members, weights = [], []
    for one in found:
        state = one.prepare()
        member = Component(one.columns, None, state, 1.0, 1.0, 0.0, detector=one.detector)
        own = float(pilot.few_scores([member]).std())
        if min(spread, own) > SMALLEST_SPREAD:
            members.append(member)
            # S + (weight * spread / own) C ranks rows as z(S) + weight z(C): means do not change a
            # ranking, and spread and own are the standard deviations of S and C.
            weights.append(one.weight * (1 - trust) * spread / own)
    # The built-in sum rounds in another way from Python 3.12 on.
    total = math.fsum(one.weight for one in components)
    unit = total / math.fsum([1.0, *weights])
    reduced = [replace(one, weight=one.weight * unit / total) for one in components]
    return reduced, [
        replace(member, weight=weight * unit)
        for member, weight in zip(members, weights, strict=True)
    ]


def _companions(X: np.ndarray, noise: np.ndarray) -> list[_Companion]:
    rows, coupling = some_rows(X), CouplingDetector()
    cut = cut_columns(rows, coupling.n_bins)
    # Two values have no order, so that two-valued columns are discrete in a table of any size. The
    # scaling bounds the weight of their rare values (RARE_ROWS in odefs.scaling).
    few = max(2, min(FEW_VALUES, rows.shape[0] // ROWS_PER_VALUE))
    is_discrete = cut.n_values <= few
    is_dominated = cut.largest_share >= DOMINANT_SHARE
    share = _share_of_variance(rows, is_discrete)
    # Blocks are counted, not columns: the indicators of one category would otherwise pass for
    # several columns that can be coupled.
    first = np.array([block.start for block in cut.blocks])
    counts = is_discrete & (cut.n_values > 1)
    counts[noise] = False
    n_discrete = int(counts[first].sum())
    # One column is coupled with nothing, and its rare values are far from others anyway.
    coupled = share if n_discrete > 1 else 0.0
    # A noise column has no relation that a row could break, and must not count towards FEW_COLUMNS.
    numbers = np.setdiff1d(np.flatnonzero(~(is_discrete | is_dominated)), noise)
    share_of_numbers = 1 - _share_of_variance(rows, is_discrete | is_dominated)
    return [
        _Companion(
            coupling,
            np.arange(X.shape[1]),
            COUPLING_WEIGHT * coupled,
            lambda: coupling.prepare_cut(rows, cut),
        ),
        *_relations(X, numbers, share_of_numbers),
    ]


def _relations(X: np.ndarray, numbers: np.ndarray, share: float) -> Iterator[_Companion]:
    """Relations among columns of numbers, which have a ``share`` in the variance of the table."""
    full, none = FEW_COLUMNS
    fade = float(np.clip((none - numbers.size) / (none - full), 0.0, 1.0))
    weight = RELATIONS_WEIGHT * share * fade
    if numbers.size < 2 or weight < SMALLEST_WEIGHT:
        return
    detector = RelationsDetector(metric="euclidean")
    # The fit of relations draws nothing at random, so the generator does not matter.
    state = detector.prepare(X[:, numbers], np.random.default_rng(0))
    low, high = RELATED_SHARE
    share_explained = explained_shares(state, len(X)).mean()
    related = np.clip((share_explained - low) / (high - low), 0.0, 1.0)
    yield _Companion(detector, numbers, weight * float(related), lambda: state)


def _share_of_variance(rows: np.ndarray, of: np.ndarray) -> float:
    """Share of some columns in the variance of all.

    Their share in the number of columns was the worse weight: abalone lost 0.015 and bands 0.017 in
    AUC (research log, "Companions of the distances").
    """
    if not of.any():
        return 0.0
    seen = ~np.isnan(rows)
    count = np.maximum(1, seen.sum(axis=0))
    is_complete = bool((count == len(rows)).all())
    values = (rows if is_complete else np.where(seen, rows, 0.0)).astype(np.float64)
    values -= values.sum(axis=0) / count
    if not is_complete:
        values[~seen] = 0.0
    values *= values
    variance = values.sum(axis=0) / count
    total = float(variance.sum())
    return float(variance[of].sum()) / total if total > 0 else 0.0
