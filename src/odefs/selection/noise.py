"""Noise columns: unrelated to every other column, without extreme values.

A row stands out by a rare value or by an unusual combination of values. A column that is unrelated
to all others and has no extreme values shows neither; in a distance it only blurs what the others
show. Such columns are recognised on a sample of the rows:

- *related*: its values or their squares correlate with those of another column, or with all others
  together, more than chance allows for independent columns;
- *tailed*: heavier tails than a normal distribution in the sample, or a value among all rows more
  extreme than any of as many normal values.

All other columns are noise, if there are enough rows to decide. In a table of noise alone, one or
two columns of a hundred look like more by chance, and the others must not be down-weighted for
these: at least one column must be related or tailed beyond what is chance for all columns together.
A category does not count here: a rare value of two is a heavy tail by construction, and so are
relations of columns of two values that never have one of their four combinations, such as the
indicators of one category. Next to noise columns, a category that is related to nothing else is
noise, too.

Noise columns are down-weighted to a tenth: for the training rows they could be dropped, but a new
row may have an unseen value there.
"""

from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Protocol, TypeVar

import numpy as np

from odefs.kernels.two_values import two_valued_columns

Task = TypeVar("Task")
Result = TypeVar("Result")

# scipy.special has the same function, but importing it takes a tenth of a short command.
normal_quantile = NormalDist().inv_cdf


class Run(Protocol):
    """Calls a task with each argument, possibly in parallel; results are in order."""

    def __call__(
        self, task: Callable[[Task], Result], arguments: Sequence[Task], /
    ) -> list[Result]: ...


# The measurements behind these numbers: docs/explanation/research-log.md, "Noise columns".

DAMPING = 0.1
"""What remains of a noise column in distances.

A tenth was as good as a fifth over 25 widened or synthetic datasets, and better than less. It is
not 0 because a new row may have an unseen value there.
"""

FEWEST_ROWS = 250
"""Fewer rows show strong relations only, and most columns of most tables are related weakly.

On 400 sampled rows 4 columns of 25 real datasets were called noise, on 1,000 rows none; on 250
rows 9 of 10,194 columns of 18 datasets, which changed their mean average precision by 0.0001. With
6 relevant columns among 200 in 300 rows, it rises from 0.35 to 1.00.
"""

FEWEST_OF_RARER = 10
"""Rows with the rarer value of an indicator, from which on its relations show."""

FEWEST_TERMS = 50
"""Rows in which both columns of a pair must be seen for a comparison."""

SIGMAS = 4.0
"""Sums of correlations and kurtoses up to this many standard deviations are due to chance."""

CLEAR_SIGMAS = 8.0
CLEAR_FACTOR = 1.5
"""The same for the clearest of all columns: sums and kurtoses, and the largest correlation relative
to the one that is due to chance among all pairs.

In 30 tables of noise each of nine kinds (400 to 8,000 rows, 5 to 300 columns), the clearest column
has 6.6 and 1.23.
"""

CHANCE = 1e-3
"""Extremes are due to chance unless their probability is below this one."""

KNOWN_SIGMAS, KNOWN_SIGMAS_OF_SQUARES = 3.5, 5.0
"""As :data:`SIGMAS`, for the mean of known outliers and of their squares.

Squares of ten ordinary rows exceed 3 in one of a hundred columns, which would undo the damping of
columns for known cases that have nothing in common.
"""

HEAVY_KURTOSIS = 50.0
"""Kurtosis less one above which a few extreme values may make up most of a column's variance.

They would hide the column's relation to others.
"""

BOUND_SIGMAS = 4.0
"""Where such values are clipped, in standard deviations estimated from the quartiles."""

MAX_PARTNERS = 2048
"""Columns with which each column is compared; where there are more, a sample of them."""

MAX_CELLS = 2**22
SAMPLED_ROWS = (1024, 8192)
"""Rows that are sampled: as many as make ``MAX_CELLS`` cells, within these bounds."""

COLUMNS_PER_BLOCK = 512
"""Columns of one task, which correlates them with all partners."""


def farthest_by_chance(n_rows: float) -> float:
    """Standard deviations from the mean that hardly any of ``n_rows`` normal values exceed."""
    return float(-normal_quantile(CHANCE / max(1.0, n_rows)))


def noise_columns(
    X: np.ndarray,
    farthest: np.ndarray,
    n_rows: int,
    rng: np.random.Generator,
    run: Run,
    outlying: np.ndarray | None = None,
) -> np.ndarray:
    """Numbers of the noise columns.

    Parameters
    ----------
    X : ndarray of shape (n_sampled, n_columns)
        A random sample of the rows, scaled, NaN where a cell is missing.
    farthest : ndarray of shape (n_columns,)
        Distance of the most extreme value of each column among all ``n_rows`` rows from its mean,
        in standard deviations.
    rng : Generator
        Draws rows and partners if there are many columns.
    run : callable
        ``run(task, arguments)`` calls the task with each argument (see :class:`Run`).
    outlying : ndarray of shape (n_known, n_columns), optional
        Known outliers, scaled: a column that sets them apart is not noise.
    """
    if X.shape[0] < FEWEST_ROWS or X.shape[1] < 2:
        return np.empty(0, dtype=np.intp)
    n_looked_at = max(SAMPLED_ROWS[0], min(SAMPLED_ROWS[1], MAX_CELLS // X.shape[1]))
    if n_looked_at < X.shape[0]:
        X = X[np.sort(rng.choice(X.shape[0], size=n_looked_at, replace=False))]
    seen = ~np.isnan(X)
    values, varies, _ = _standardised(X, seen)
    squares, squares_vary, spread = _standardised(values * values, seen)
    # Squares of standardised values have the variance kurtosis - 1; a normal kurtosis is 3.
    # 24 / n is the variance of the kurtosis of n normal values.
    kurtosis = (spread**2 - 2) / np.sqrt(24 / _counts(seen))
    tailed = (kurtosis > SIGMAS) | (farthest > farthest_by_chance(n_rows))
    # A third value may be outside the sample: then the farthest of all rows is farther than the
    # rarer one of two can be. Its share may be smaller by the share of sampled rows, and its
    # distance larger by the root of that.
    reach = np.abs(values).max(axis=0) * np.sqrt(max(1.0, n_rows / X.shape[0]))
    two_valued = two_valued_columns(X) & (farthest <= 1.01 * reach)
    clear = (kurtosis > CLEAR_SIGMAS) | (farthest > farthest_by_chance(n_rows * X.shape[1]))
    clear &= ~two_valued
    ends = _ends(X, two_valued)
    related, really_related, clearly_related = _related(
        (values, squares), (varies, squares_vary), seen, ends, rng, run
    )
    apart = clearly_apart = np.zeros(X.shape[1], dtype=bool)
    if outlying is not None and len(outlying):
        apart, clearly_apart = _set_apart(outlying, X, seen, spread)
    # If every column looks like noise, there is nothing that noise could blur.
    if not (varies & (clear | clearly_related | clearly_apart)).any():
        return np.empty(0, dtype=np.intp)
    may_be_noise = varies & ~apart & (_counts(seen) >= FEWEST_ROWS)
    is_noise = may_be_noise & ~tailed & ~related
    if is_noise.any():
        is_noise |= may_be_noise & _unrelated_categories(ends, two_valued, really_related, rng)
    # An extreme cell makes up most of a column's variance and hides its relations. They are
    # searched again with such cells clipped, but only for columns that would be called noise.
    heavy = np.flatnonzero(varies & (spread**2 > HEAVY_KURTOSIS))
    if is_noise.any() and heavy.size:
        heavy = _sampled_partners(heavy, rng)
        own = (values[:, is_noise], squares[:, is_noise])
        is_noise[is_noise] = ~_related_within_bounds(
            own, seen[:, is_noise], X[:, heavy], seen[:, heavy], run
        )
    return np.flatnonzero(is_noise)


def _standardised(X: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised columns, which of them vary, and their standard deviations.

    Only cells that are ``seen`` count; the others are set to the mean.
    """
    count = _counts(seen)
    complete = bool((count == X.shape[0]).all())
    # Sums are in float64: float32 would lose the digits of a mean of thousands of rows.
    mean = (X if complete else np.where(seen, X, 0)).sum(axis=0, dtype=np.float64) / count
    values = X - mean.astype(X.dtype)
    if not complete:
        values[~seen] = 0
    std = np.sqrt(np.einsum("ij,ij->j", values, values, dtype=np.float64) / count)
    # Rounding to float32 leaves a constant column a deviation of about 1e-7 of its mean.
    varies = std > 1e-6 * np.maximum(1.0, np.abs(mean))
    values *= np.where(varies, 1 / np.where(varies, std, 1), 0).astype(X.dtype)
    return values, varies, std


def _sampled_partners(columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The columns, or a sample of ``MAX_PARTNERS`` of them."""
    if columns.size <= MAX_PARTNERS:
        return columns
    return np.sort(rng.choice(columns, size=MAX_PARTNERS, replace=False))


def _ends(X: np.ndarray, two_valued: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where columns of two values have their lowest and their highest one."""
    ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    low, high = ((two_valued & (end == X)).astype(np.float32) for end in ends)
    return low, high


def _unrelated_categories(
    ends: tuple[np.ndarray, np.ndarray],
    two_valued: np.ndarray,
    related: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Columns of two values that are indicators of categories which are related to nothing else.

    Next to numbers that are noise, such a category would have the score to itself. Indicators that
    exclude or imply each other are one category: it is kept if one of them is related.
    """
    found = np.zeros(two_valued.size, dtype=bool)
    # A relation of very rare values would not show, and they may be errors.
    shows = np.minimum(ends[0].sum(axis=0), ends[1].sum(axis=0)) >= FEWEST_OF_RARER
    columns = np.flatnonzero(two_valued & shows & ~related)
    partners = _sampled_partners(np.flatnonzero(two_valued & related), rng)
    for start in range(0, columns.size, COLUMNS_PER_BLOCK):
        block = columns[start : start + COLUMNS_PER_BLOCK]
        found[block] = ~_lack_a_combination(ends, block, partners).any(axis=1)
    return found


def _counts(seen: np.ndarray) -> np.ndarray:
    """Observed cells of each column, at least 1."""
    if seen.all():
        return np.full(seen.shape[1], seen.shape[0])
    return np.maximum(1, seen.sum(axis=0))


def _scale_of_products(seen: np.ndarray, others_seen: np.ndarray) -> np.ndarray | float:
    """Divisor that turns sums of products of standardised columns into correlations.

    A sum has as many terms as rows in which both columns are seen, and the standard deviation of
    its chance grows with the root of these. Dividing by that root, times the root of the number of
    rows, makes the chance the same for every pair.
    """
    n_rows = float(len(seen))
    if seen.all() and others_seen.all():
        return n_rows
    terms = seen.astype(np.float32).T @ others_seen.astype(np.float32)
    # A few terms may be large by chance: such a pair is not compared.
    return np.where(terms >= FEWEST_TERMS, np.sqrt(n_rows * np.maximum(terms, 1)), np.inf)


def _related_within_bounds(
    own: tuple[np.ndarray, np.ndarray],
    own_seen: np.ndarray,
    X: np.ndarray,
    seen: np.ndarray,
    run: Run,
) -> np.ndarray:
    """Which columns, given by values and squares, relate to ``X`` with its extremes clipped."""
    n_rows, n_columns = own[0].shape
    low, middle, high = np.nanquantile(X, [0.25, 0.5, 0.75], axis=0)
    reach = BOUND_SIGMAS * (high - low) / (normal_quantile(0.75) - normal_quantile(0.25))
    # If most values are equal, the quartiles show no spread; a small one may be tiny compared with
    # the extreme values.
    spread_out = reach > 0
    bounded = np.clip((X[:, spread_out] - middle[spread_out]) / reach[spread_out], -1, 1).astype(
        own[0].dtype
    )
    values, _, _ = _standardised(bounded, seen[:, spread_out])
    squares, _, _ = _standardised(values * values, seen[:, spread_out])

    def largest(start: int) -> np.ndarray:
        """The largest correlation of each of some columns."""
        block = slice(start, start + COLUMNS_PER_BLOCK)
        scale = _scale_of_products(own_seen[:, block], seen[:, spread_out])
        found = [
            np.abs(one[:, block].T @ other / scale).max(axis=1, initial=0)
            for one in own
            for other in (values, squares)
        ]
        return np.asarray(np.max(found, axis=0))

    found = np.concatenate(run(largest, range(0, n_columns, COLUMNS_PER_BLOCK)))
    # Two-sided, and as many chances as partners (Bonferroni), as for the largest in _related.
    by_chance = -normal_quantile(CHANCE / (2 * max(1, values.shape[1])))
    return np.asarray(np.sqrt(n_rows) * found > by_chance)


def _set_apart(
    outlying: np.ndarray, X: np.ndarray, seen: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Columns whose mean, or mean of squares, differs in some rows by more than chance, and those
    whose mean differs by more than chance in any of as many columns.
    """
    count = np.maximum(1, seen.sum(axis=0))
    mean = np.where(seen, X, 0).sum(axis=0, dtype=np.float64) / count
    std = np.sqrt((np.where(seen, X - mean, 0.0) ** 2).sum(axis=0) / count)
    known = ~np.isnan(outlying)
    values = np.where(known, outlying - mean, 0.0) / np.where(std > 0, std, 1.0)
    root = np.sqrt(np.maximum(1, known.sum(axis=0)))
    by_mean = np.abs(values.sum(axis=0)) / root
    by_squares = np.abs(np.where(known, values**2 - 1, 0.0).sum(axis=0)) / (
        root * np.where(spread > 0, spread, 1.0)
    )
    apart = (by_mean > KNOWN_SIGMAS) | (by_squares > KNOWN_SIGMAS_OF_SQUARES)
    return apart, by_mean > max(KNOWN_SIGMAS, farthest_by_chance(2 * X.shape[1]))


def _related(
    views: tuple[np.ndarray, np.ndarray],
    vary: tuple[np.ndarray, np.ndarray],
    seen: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    run: Run,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which columns relate to others, in any of the four pairs of values and squares.

    Beyond what is chance for one column, the same without relations by construction, and without
    them beyond what is chance for all columns together. ``ends`` are where columns of two values
    have each of them.
    """
    n_rows, n_columns = views[0].shape
    two_valued = np.asarray(ends[0].any(axis=0))
    # All pairs of d columns cost d^2 products, hence the sample of partners.
    partners = _sampled_partners(np.arange(n_columns), rng)
    others = [
        view if partners.size == n_columns else np.ascontiguousarray(view[:, partners])
        for view in views
    ]

    def correlate(task: tuple[int, int]) -> np.ndarray:
        """Sum of squares and maximum of the correlations of some columns in their ``own`` view.

        Shape ``(2, 2, 2, n_block)`` for statistic, others' view, and whether all of them count or
        those that are not by construction.
        """
        own, start = task
        block = slice(start, min(start + COLUMNS_PER_BLOCK, n_columns))
        itself = np.arange(n_columns)[block, None] == partners
        scale = _scale_of_products(seen[:, block], seen[:, partners])
        constructed = two_valued[block, None] & two_valued[partners]
        out = np.empty((2, 2, 2, block.stop - start))
        for other in range(2):
            # Correlations: the columns are standardised, and missing cells are 0.
            found = views[own][:, block].T @ others[other]
            found /= scale
            found[itself] = 0
            out[:, other, 0] = _sum_and_largest(found)
            out[:, other, 1] = out[:, other, 0]
            if constructed.any():
                # Squares of two values tell no more than the values.
                is_values = own == other == 0
                lacking = _lack_a_combination(ends, block, partners) if is_values else True
                found[constructed & lacking] = 0
                out[:, other, 1] = _sum_and_largest(found)
        return out

    # Views are tasks of their own, since most tables have one block of columns only.
    starts = range(0, n_columns, COLUMNS_PER_BLOCK)
    found = run(correlate, [(own, start) for own in range(2) for start in starts])
    halves = found[: len(starts)], found[len(starts) :]
    sums, largest = np.stack([np.concatenate(half, axis=-1) for half in halves], axis=1)
    related, really, clearly = np.zeros((3, n_columns), dtype=bool)
    for other in range(2):
        n_others = max(1, int(vary[other][partners].sum()))
        # For a column of independent values the sum of squared correlations, times n_rows, has mean
        # n_others and the variance of a quadratic form: twice the squared correlations that the
        # others have among themselves.
        std = np.sqrt(2 * (sums[other, other, 0, partners].sum() + n_others))
        by_chance = -normal_quantile(CHANCE / (2 * n_others))
        by_chance_of_all = -normal_quantile(CHANCE / (2 * n_others * n_columns))
        for own in range(2):
            sigmas = (n_rows * sums[own, other] - n_others) / std
            highest = np.sqrt(n_rows) * largest[own, other]
            related |= (sigmas[0] > SIGMAS) | (highest[0] > by_chance)
            really |= (sigmas[1] > SIGMAS) | (highest[1] > by_chance)
            clearly |= (sigmas[1] > CLEAR_SIGMAS) | (highest[1] > CLEAR_FACTOR * by_chance_of_all)
    return related, really, clearly


def _lack_a_combination(
    ends: tuple[np.ndarray, np.ndarray], block: slice | np.ndarray, partners: np.ndarray
) -> np.ndarray:
    """Which pairs of columns of two values never have one of their four combinations."""
    counts = [own[:, block].T @ other[:, partners] for own in ends for other in ends]
    return np.asarray(np.any([count == 0 for count in counts], axis=0))


def _sum_and_largest(correlations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum of squares and the largest magnitude of each row."""
    return (
        np.einsum("ij,ij->i", correlations, correlations),
        np.abs(correlations).max(axis=1),
    )
