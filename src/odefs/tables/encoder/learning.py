"""A :class:`TableEncoder` for a table that is read in batches.

What a column is, its median and the style of its text are learned from a seeded sample of rows, to which the rows with the lowest and the highest value of every
column are added: a flag that is set once in a billion rows is no constant. Units, ranges, missing shares and the counts of categories are those of all rows. A table
of no more rows than the sample is learned from as a whole, exactly as in memory.
"""

from collections.abc import Collection, Sequence

import numpy as np

from odefs._progress import tell
from odefs.exceptions import TableError
from odefs.tables.columns import Column, Columns
from odefs.tables.encoder.column_spec import ColumnSpec
from odefs.tables.encoder.encoder import TableEncoder
from odefs.tables.encoder.missing import without_words
from odefs.tables.encoder.statistics import ColumnSummary, spec_of
from odefs.tables.frames import columns_of
from odefs.tables.large import ColumnFacts, LargeTable
from odefs.tables.large_cells import recognised_batches
from odefs.tables.notes import Exclusion

SAMPLE_ROWS = 100_000
MANY_VALUES = 20_000
"""Distinct values of a column of categories that are counted; one with more is judged by the sample."""


def learn_large(encoder: TableEncoder, table: LargeTable, columns: Sequence[str], seed: int) -> None:
    """Fit the encoder to some columns of a table."""
    n_rows = table.n_rows
    if n_rows <= SAMPLE_ROWS:
        encoder.learn_table(columns_of(table.rows(np.arange(n_rows), columns), encoder.is_read))
        return
    facts = table.facts(columns)
    chosen = np.random.default_rng([seed, 7]).choice(n_rows, size=SAMPLE_ROWS, replace=False)
    ends = [row for known in facts.values() for row in known.rows.values()]
    numbers = np.unique(np.concatenate([chosen, np.array(ends, dtype=np.int64)]))
    sample = columns_of(table.rows(numbers, columns), encoder.is_read)
    encoder.learn_table(sample)
    encoder.notes_ = [note.of_sample(numbers) for note in encoder.notes_]
    counters = [spec.name for spec in encoder.specs_ if _counts_rows(facts[spec.name], sample, spec.name, n_rows)]
    for name in counters:
        if name not in {*encoder.keep, *encoder.number, *encoder.category}:
            encoder.left_out_[name] = Exclusion("row_counter")
    encoder.specs_ = [spec for spec in encoder.specs_ if spec.name not in encoder.left_out_]
    if not encoder.specs_:
        raise TableError("no column is left to look at.")
    encoder.specs_ = _of_all_rows(encoder, table)


def _counts_rows(facts: ColumnFacts, sample: Columns, name: str, n_rows: int) -> bool:
    """Whole numbers without gaps or repeats, as far as range and sample tell."""
    column = sample[name]
    if column.kind != "number" or not column.whole or facts.missing:
        return False
    return bool(facts.low in (0, 1) and facts.high - facts.low == n_rows - 1 and column.n_distinct == sample.n_rows)


def _of_all_rows(encoder: TableEncoder, table: LargeTable) -> list[ColumnSpec]:
    """What the sample said of the columns, with units, ranges and counts of all rows: one pass over cells as the encoder reads them."""
    seen = [ColumnSummary() for _ in encoder.specs_]
    done = 0
    for given, read in recognised_batches(table, encoder):
        for summary, column in zip(seen, read, strict=True):
            if len(summary.counts) <= MANY_VALUES:
                summary.add(_as_learned(given[column.name], column, encoder.na))
        done += read.n_rows
        tell(done, table.n_rows)
    return [_exact(spec, summary, encoder) for spec, summary in zip(encoder.specs_, seen, strict=True)]


def _as_learned(given: Column, read: Column, na: Collection[str]) -> Column:
    """Text that is categories counts as it stands, as in memory; as it is read later, times would take the names of those that the sample has."""
    return without_words(given, na) if given.kind == read.kind == "category" else read


def _exact(spec: ColumnSpec, seen: ColumnSummary, encoder: TableEncoder) -> ColumnSpec:
    if seen.n_missing == seen.n_rows or len(seen.counts) > MANY_VALUES:
        return spec
    return spec_of(spec.name, spec.kind, spec.style, seen, spec.fill, encoder.max_categories, encoder.mark_missing)
