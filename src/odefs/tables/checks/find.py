"""All checks of a table, most certain first."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b

from odefs._progress import report_progress, stage
from odefs.tables.checks.dates import date_suspects
from odefs.tables.checks.facts import NumberFacts, TextFacts
from odefs.tables.checks.gather import ColumnTally, cell_hashes, gather, numbers_rows
from odefs.tables.checks.numbers import infinite_suspects, number_suspects
from odefs.tables.checks.repeated_ids import repeated_ids
from odefs.tables.checks.rows import (
    Located,
    copied_rows,
    locate,
    rows_above_others,
    sum_rows,
    sum_suspects,
)
from odefs.tables.checks.text import POSSIBLE_NAME, text_suspects
from odefs.tables.checks.text_rows import are_replaced, text_rows
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.roles import IDENTIFIER_NAME
from odefs.tables.encoder.text_formats import format_named
from odefs.tables.records.checks import Cell, Suspect, ValueCheck
from odefs.tables.records.notes import COMPACT_DATES
from odefs.tables.table import Table

MAX_CHECKS = 200
"""Checks that a detection holds; outputs show fewer of them."""
COMPARED = ("zero", "negative", "code", "extreme_value")
"""Kinds that are described by the range of the other cells."""
BEYOND = ("impossible_value", "future_date", "early_date")
"""Further kinds whose cells may lie outside that range."""
NUMBERING = ("row_counter", "serial_numbers")
"""Why columns that count or number the rows are left out."""
MAX_APART = 10
"""Distinct values that a check holds of the cells outside that range."""


def find_checks(
    table: Table,
    encoder: ColumnEncoder,
    names: Sequence[str],
    others: Sequence[str] = (),
    seed: int = 0,
    today: float | None = None,
    hidden: Collection[str] = (),
    id: str | None = None,
) -> list[ValueCheck]:
    """Return the values to check in the columns ``names``.

    ``others`` are further columns in which copies of rows agree. ``encoder`` has learned the table,
    or one like it. ``id`` is a column that identifies the rows; like those that count the rows, it
    is searched for repeated values only. ``today`` is the start of a day in seconds since 1970, by
    default of the latest day that it can be in any time zone, since most cells have none. Checks of
    ``hidden`` columns are returned too, but never stand for a visible column with the same cells.
    """
    used, counters = _checked_columns(encoder, names)
    with stage("checking values"):
        report_progress(0, 0)
        read = [*used, *counters, *([] if id is None else [id])]
        dates = dates_in_numbers(encoder)
        gathered = gather(table, read, [*used, *others], encoder.na_words, seed, id, dates)
        day = _latest_day() if today is None else today
        tallies = gathered.columns.values()
        suspects, numbers = _suspects(tallies, encoder, counters, id, day)
        sums = sum_suspects(numbers)
        located = locate(table, [*suspects, *sums], encoder.na_words, dates)
        located = [one for one in located if not _is_name(one, located, table, numbers)]
    copies = copied_rows(gathered)
    checks = _located_checks(located, hidden)
    if copies is not None:
        checks = [check for check in checks if not _is_copied_id(check, copies)] + [copies]
    kept_back = frozenset(hidden)
    # The first of equal checks is kept: a hidden column must not stand for a visible one.
    visible_first = sorted(checks, key=lambda check: check.concerns(kept_back))
    kept = _without_repeats(visible_first, gathered.columns)
    # Stable: equally certain checks are in the order of the columns, hidden ones last.
    return sorted(kept, key=lambda check: -check.certainty)[:MAX_CHECKS]


def dates_in_numbers(encoder: ColumnEncoder) -> frozenset[str]:
    """Return the columns of numbers such as 20250403 that are dates."""
    return frozenset(spec.name for spec in encoder.specs_ if spec.style == COMPACT_DATES)


def _checked_columns(encoder: ColumnEncoder, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns that the encoder reads, and apart from them those that count rows.

    In another table than the one that the encoder has learned, these may have repeated values or
    words.
    """
    counting = {name for name, why in encoder.left_out_.items() if why.kind in NUMBERING}
    read = [name for name in names if encoder.is_read(name)]
    counters = [name for name in read if name in counting]
    return [name for name in read if name not in counting], counters


def _located_checks(located: Sequence[Located], hidden: Collection[str]) -> list[ValueCheck]:
    """Return a check for each suspect; a row that is a total is named as such only.

    So is a row of text among numbers, without its cells.
    """
    sums = sum_rows(located)
    summed = _named_rows(sums)
    by_column = defaultdict[str, list[Located]](list)
    for one in located:
        by_column[one.suspect.column].append(one)
    checks = [
        _with_cells_apart(_confirmed_total(one.check(), summed), by_column[one.suspect.column])
        for one in located
        if one.suspect.kind != "sum_row"
    ]
    labelled = _named_rows(check for check in checks if check.kind == "total_row")
    checks += [check for check in sums if not labelled.issuperset(check.rows)]
    totals = labelled | summed
    texts = text_rows(located, hidden)
    checks = [check for check in checks if not are_replaced(check, texts)]
    return [check for check in [*checks, *texts] if not _is_extreme_total(check, totals)]


def _is_name(
    one: Located, located: Sequence[Located], table: Table, numbers: Sequence[NumberFacts]
) -> bool:
    """Whether a label of totals is but a name, such as that of the oil company Total.

    Rows of totals are the last ones, sums, or have the highest numbers.
    """
    suspect = one.suspect
    if suspect.kind != "total_row" or suspect.certainty > POSSIBLE_NAME:
        return False
    if table.n_rows - 1 in one.rows or _named_rows(sum_rows(located)).intersection(one.rows):
        return False
    return not rows_above_others(table, one.rows, numbers)


def _named_rows(checks: Iterable[ValueCheck]) -> set[int]:
    return {row for check in checks for row in check.rows}


def _confirmed_total(check: ValueCheck, sums: set[int]) -> ValueCheck:
    """Return a check of totals as a certain one if some of its rows are sums of the others."""
    if check.kind != "total_row" or sums.isdisjoint(check.rows):
        return check
    return replace(check, certainty=0.95)


def _is_extreme_total(check: ValueCheck, totals: set[int]) -> bool:
    """Whether extreme values are those of totals, which are far from the numbers of other rows."""
    return check.kind == "extreme_value" and totals.issuperset(check.rows)


def _with_cells_apart(check: ValueCheck, located: Sequence[Located]) -> ValueCheck:
    """Add the cells that lie outside the range of the others; ``located`` are those of the column.

    These are the cells of other checks: each check leaves out those of more specific ones.
    """
    if check.kind not in COMPARED:
        return check
    parts = [
        one
        for one in located
        if one.suspect.kind in (*COMPARED, *BEYOND)
        and tuple(one.rows) != check.rows
        and _lies_outside(one.suspect, check.usual)
    ]
    cells = dict.fromkeys(cell for one in parts for cell in one.values)
    count = sum(one.count for one in parts)
    # Each value has one check.
    distinct = sum(one.n_distinct for one in parts)
    apart = tuple(cells)[:MAX_APART]
    return replace(check, apart=apart, apart_distinct=distinct, apart_count=count)


def _lies_outside(suspect: Suspect, usual: Sequence[Cell]) -> bool:
    low, high = usual
    assert isinstance(low, float)
    assert isinstance(high, float)
    return (
        suspect.below <= low
        and suspect.above >= high
        and not any(low <= number <= high for number in suspect.numbers)
    )


def _without_repeats(
    checks: Sequence[ValueCheck], columns: Mapping[str, ColumnTally]
) -> list[ValueCheck]:
    """Return the checks without those that repeat another one in a column with the same cells."""
    # A column that repeats another one would double every line. Digests are computed only for
    # columns with equal checks; comparing all pairs of 400 columns took 2.5 s.
    alike = Counter(replace(check, column=None) for check in checks)
    digests: dict[str, bytes] = {}
    seen, kept = set(), []
    for check in checks:
        fact = replace(check, column=None)
        if check.column is not None and alike[fact] > 1:
            if check.column not in digests:
                digests[check.column] = _digest(columns[check.column])
            if (fact, digests[check.column]) in seen:
                continue
            seen.add((fact, digests[check.column]))
        kept.append(check)
    return kept


def _digest(column: ColumnTally) -> bytes:
    """Return a digest of the cells of a column in all sampled rows."""
    digest = blake2b(digest_size=16)
    for part in column.sample:
        digest.update(cell_hashes(part, 0).tobytes())
    return digest.digest()


def _is_copied_id(check: ValueCheck, copies: ValueCheck) -> bool:
    """Whether ids are repeated only because their whole rows are."""
    if check.kind != "repeated_id":
        return False
    n_repeats = check.count - check.usual_count
    if max(check.count - len(check.rows), copies.count - len(copies.rows)) > 0:
        # Not all rows are listed: as many copies as repeated ids are no coincidence.
        return copies.count >= n_repeats
    return len({*check.rows} & {*copies.rows}) == n_repeats


def _suspects(
    tallies: Collection[ColumnTally],
    encoder: ColumnEncoder,
    counters: Collection[str],
    id: str | None,
    today: float,
) -> tuple[list[Suspect], list[NumberFacts]]:
    """Return the suspects of all columns, and the facts of those with numbers of some size.

    The column ``id`` and numbers that count the rows are searched for repeated values only.
    """
    as_text = frozenset(encoder.named("category"))
    categories = as_text.union(spec.name for spec in encoder.specs_ if spec.kind == "category")
    styles = {spec.name: format_named(spec.style) for spec in encoder.specs_ if spec.style}
    suspects, numbers = [], []
    repeated = _repeated_texts(tallies)
    for tally in tallies:
        if tally.name == id or (tally.name not in as_text and numbers_rows(tally.name)):
            suspects += repeated_ids(tally, is_declared=tally.name == id)
        if tally.name == id or (tally.name in counters and tally.numbers is not None):
            continue
        is_category = tally.name in categories
        text = TextFacts.of(tally, styles.get(tally.name), encoder.na_words, is_category)
        found, facts = _column_suspects(tally, text, as_text, today, repeated)
        suspects += found
        numbers += [] if facts is None else [facts]
    return suspects, numbers


def _column_suspects(
    tally: ColumnTally,
    text: TextFacts | None,
    as_text: Collection[str],
    today: float,
    repeated: Callable[[str], bool],
) -> tuple[list[Suspect], NumberFacts | None]:
    """Return the suspects of a column, and its numbers where it has any."""
    found: list[Suspect] = []
    facts = NumberFacts.of_numbers(tally)
    if text is not None:
        found += text_suspects(text, repeated)
        facts = NumberFacts.of_text(text, tally)
    if tally.name in as_text:
        return found, None
    found += infinite_suspects(tally, text)
    if facts is None or not facts.sample.size:
        return found, None
    if facts.of == "time":
        return [*found, *date_suspects(facts, today)], None
    # The size of an identifier means nothing, so none of them is too large or too small.
    if facts.whole and IDENTIFIER_NAME.search(facts.name):
        return found, None
    return [*found, *number_suspects(facts, today)], facts


def _repeated_texts(tallies: Iterable[ColumnTally]) -> Callable[[str], bool]:
    """Return whether a text in lower case is a repeated value of one of the columns."""

    @cache
    def texts() -> set[str]:
        return {
            text.strip().casefold()
            for tally in tallies
            for text, count in (tally.levels or {}).items()
            if count > 1
        }

    return lambda text: text in texts()


def _latest_day() -> float:
    """Start of the latest day that it can be anywhere: in UTC, the day after today."""
    now = datetime.now(UTC) + timedelta(days=1)
    return now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
