"""A :class:`TableEncoder` for a table that is read in batches.

What a column is, its median and the style of its text are learned from a seeded sample of rows, to which the rows with the lowest and the highest value of every
column are added: a flag that is set once in a billion rows is no constant. Ranges and missing shares of numbers and the counts of categories are those of all rows. A
table of no more rows than the sample is learned from as a whole, exactly as in memory.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from odefs.tables.column_spec import ColumnSpec
from odefs.tables.columns import Table, TableError
from odefs.tables.encoder import TableEncoder
from odefs.tables.frames import table_of
from odefs.tables.large import ColumnFacts, LargeTable
from odefs.tables.recognise import is_missing_word
from odefs.tables.units import distances_out

SAMPLE_ROWS = 100_000


def learn_large(encoder: TableEncoder, table: LargeTable, columns: Sequence[str], seed: int) -> None:
    """Fit the encoder to some columns of a table."""
    n_rows = table.n_rows
    if n_rows <= SAMPLE_ROWS:
        encoder.learn_table(table_of(table.rows(np.arange(n_rows), columns), encoder.is_read))
        return
    facts = table.facts(columns)
    chosen = np.random.default_rng([seed, 7]).choice(n_rows, size=SAMPLE_ROWS, replace=False)
    ends = [row for known in facts.values() for row in known.rows.values()]
    numbers = np.unique(np.concatenate([chosen, np.array(ends, dtype=np.int64)]))
    sample = table_of(table.rows(numbers, columns), encoder.is_read)
    encoder.learn_table(sample)
    encoder.notes_ = [_of_table(note, numbers) for note in encoder.notes_]
    counters = [spec.name for spec in encoder.specs_ if _counts_rows(facts[spec.name], sample, spec.name, n_rows)]
    for name in counters:
        if name not in {*encoder.keep, *encoder.number, *encoder.category}:
            encoder.left_out_[name] = "it counts the rows"
    encoder.specs_ = [
        _exact(spec, facts[spec.name], n_rows, encoder) for spec in encoder.specs_ if spec.name not in encoder.left_out_
    ]
    if not encoder.specs_:
        raise TableError("no column is left to look at.")


def _of_table(note: str, numbers: np.ndarray) -> str:
    """A note on the sample as one on the table: rows by their number there, counts named as the sample's."""
    found = re.search(r"(?:the first is .*|it changes) in row (\d+)", note)
    if found:
        note = f"{note[: found.start(1)]}{numbers[int(found[1]) - 1] + 1}{note[found.end(1) :]}"
    return (
        f"{note} (counted in a sample of the rows)" if found or re.search(r": \d+ (?:infinite )?cells ", note) else note
    )


def _counts_rows(facts: ColumnFacts, sample: Table, name: str, n_rows: int) -> bool:
    """Whole numbers without gaps or repeats, as far as range and sample tell."""
    column = sample[name]
    if column.kind != "number" or not column.whole or facts.missing:
        return False
    return bool(facts.low in (0, 1) and facts.high - facts.low == n_rows - 1 and column.n_distinct == sample.n_rows)


def _exact(spec: ColumnSpec, facts: ColumnFacts, n_rows: int, encoder: TableEncoder) -> ColumnSpec:
    if spec.kind == "category":
        if facts.counts is None:
            return spec
        known = {text: n for text, n in facts.counts.items() if not _means_missing(text, encoder.na)}
        missing = (n_rows - sum(known.values())) / n_rows
        return replace(_with_levels(spec, Counter(known), encoder), missing_share=missing) if known else spec
    if spec.style or encoder.na:
        # Numbers that were text, or words for missing ones: the facts are about other values.
        return spec
    return replace(spec, missing_share=facts.missing / n_rows)


def _means_missing(text: str, words: Collection[str]) -> bool:
    return text in words or is_missing_word(text)


def _with_levels(spec: ColumnSpec, counts: Counter[str], encoder: TableEncoder) -> ColumnSpec:
    """The most frequent values get a column each, in alphabetical order among equals, as in memory."""
    order = sorted(counts, key=lambda text: (-counts[text], text))
    room = encoder.max_categories - spec.marks_missing
    kept = order if len(order) <= room else order[: max(1, room - 1)]
    rarer = float(sum(counts[text] for text in order[len(kept) :]))
    units = distances_out([float(counts[text]) for text in sorted(kept)], rarer)
    units += spec.units[-1:] if spec.marks_missing else ()
    return replace(spec, levels=tuple(sorted(kept)), grouped=len(order) - len(kept), fill_level=order[0], units=units)
