"""Checks of whole rows: copies, and rows that are the sum of the others."""

from collections.abc import Sequence

import numpy as np

from odefs.tables.checks.facts import NumberFacts
from odefs.tables.checks.gather import Gathered, cell_hashes
from odefs.tables.checks.locate import ROWS_KEPT, Located
from odefs.tables.checks.record import Suspect, ValueCheck
from odefs.tables.columns import Columns

COPY_SHARE = 0.02
"""If more rows are copies, the table has few combinations of values, and copies are ordinary."""
MIN_COPIED_COLUMNS = 4
SURPRISE = 5.0
"""How many more pairs of equal rows there must be than coincidence explains."""
PRIOR_PAIRS = 0.1
"""Added to the pairs that nearly agree, of which a small table may have none."""
MAX_COLUMNS = 16
"""Columns, evenly spaced, by which coincidences are estimated."""
MIN_ADDENDS = 5
SUM_TOLERANCE = 1e-7


def copied_rows(gathered: Gathered) -> ValueCheck | None:
    """Return the rows that repeat an earlier row, if they are rarer than chance would make them."""
    hashes = gathered.hashes
    width = len(gathered.sample[0].columns) if gathered.sample else 0
    if hashes is None or width < MIN_COPIED_COLUMNS or hashes.size < MIN_ADDENDS:
        return None
    order = np.argsort(hashes, kind="stable")
    repeats = hashes[order[1:]] == hashes[order[:-1]]
    rows = np.sort(order[1:][repeats])
    if not 0 < rows.size <= max(1, COPY_SHARE * hashes.size):
        return None
    if _pairs(hashes) < SURPRISE * _coincidences(gathered):
        return None
    return ValueCheck(
        "copied_row",
        None,
        rows.size,
        tuple(rows[:ROWS_KEPT].tolist()),
        certainty=0.7 if rows.size <= 0.005 * hashes.size else 0.55,
    )


def _pairs(hashes: np.ndarray) -> float:
    """Number of pairs of equal rows."""
    _, counts = np.unique(hashes, return_counts=True)
    return float((counts * (counts - 1.0)).sum() / 2)


def _coincidences(gathered: Gathered) -> float:
    """Estimate how many pairs of rows are equal by chance.

    Pairs that agree in all columns but one would also agree in that one as often as any two rows
    do. The largest estimate over some columns counts.
    """
    sample = gathered.sample
    width, n_rows = len(sample[0].columns), sum(part.n_rows for part in sample)
    cells = [_hashes_of(sample, k) for k in range(width)]
    total = np.asarray(np.sum(cells, axis=0, dtype=np.uint64))
    equal, possible = _pairs(total), n_rows * (n_rows - 1) / 2
    chosen = np.unique(np.linspace(0, width - 1, min(width, MAX_COLUMNS)).astype(int))
    expected = max(
        (_pairs(total - cells[k]) - equal + PRIOR_PAIRS) * _pairs(cells[k]) / max(possible, 1)
        for k in chosen
    )
    return expected * (gathered.n_rows / max(n_rows, 1)) ** 2


def _hashes_of(sample: Sequence[Columns], k: int) -> np.ndarray:
    return np.concatenate([cell_hashes(part.columns[k], k) for part in sample])


def sum_suspects(columns: Sequence[NumberFacts]) -> list[Suspect]:
    """Return the highest value of each column where it equals the sum of all others."""
    found = []
    for facts in columns:
        highest, tally = facts.highest(), facts.tally
        if facts.of == "time" or tally.n_negative or tally.n_positive <= MIN_ADDENDS:
            continue
        top = float(highest[0])
        if abs(tally.total - 2 * top) <= SUM_TOLERANCE * top and (highest < top)[1]:
            found.append(facts.suspect("sum_row", 0.9, (top,)))
    return found


def sum_rows(located: Sequence[Located]) -> list[ValueCheck]:
    """Return rows that are the sum of the others in at least two columns."""
    by_row: dict[int, list[Located]] = {}
    for one in located:
        for row in one.rows if one.suspect.kind == "sum_row" else ():
            by_row.setdefault(row, []).append(one)
    return [
        ValueCheck(
            "sum_row",
            None,
            1,
            (row,),
            summed=tuple(one.suspect.column for one in parts),
            certainty=0.9,
        )
        for row, parts in sorted(by_row.items())
        if len(parts) >= 2
    ]
