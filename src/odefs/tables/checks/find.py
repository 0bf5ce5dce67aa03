"""All checks of a table, most certain first."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from odefs._progress import report_progress, stage
from odefs.tables.checks.facts import NumberFacts, TextFacts
from odefs.tables.checks.gather import ColumnTally, cell_hashes, gather
from odefs.tables.checks.numbers import date_suspects, number_suspects
from odefs.tables.checks.record import Suspect, ValueCheck
from odefs.tables.checks.repeated_ids import repeated_ids
from odefs.tables.checks.rows import Located, copied_rows, locate, sum_rows, sum_suspects
from odefs.tables.checks.text import text_suspects
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.roles import IDENTIFIER_NAME
from odefs.tables.table import Table

MAX_CHECKS = 200
"""Checks that a detection holds; outputs show fewer of them."""


def find_checks(
    table: Table,
    encoder: ColumnEncoder,
    names: Sequence[str],
    others: Sequence[str] = (),
    seed: int = 0,
    today: float | None = None,
    hidden: Collection[str] = (),
) -> list[ValueCheck]:
    """Return the values to check in the columns ``names``.

    ``others`` are further columns in which copies of rows agree. ``encoder`` has learned the table.
    ``today`` is the start of a day in seconds since 1970, by default of the present one. Checks of
    ``hidden`` columns are returned too, but never stand for a visible column with the same cells.
    """
    used = _checked_columns(encoder, names)
    with stage("checking values"):
        report_progress(0, 0)
        gathered = gather(table, used, [*used, *others], encoder.na, seed)
        as_text = frozenset(encoder.category)
        suspects, numbers = [], []
        for tally in gathered.columns.values():
            found, facts = _column_suspects(tally, as_text, _today() if today is None else today)
            suspects += found
            numbers += [] if facts is None else [facts]
        sums = sum_suspects(numbers)
        located = locate(table, [*suspects, *sums], encoder.na)
    copies = copied_rows(gathered)
    checks = _located_checks(located)
    if copies is not None:
        checks = [check for check in checks if not _is_copied_id(check, copies)] + [copies]
    kept_back = frozenset(hidden)
    visible_first = sorted(checks, key=lambda check: check.concerns(kept_back))
    kept = _without_repeats(visible_first, gathered.columns)
    # Stable: equally certain checks are in the order of the columns, hidden ones last.
    return sorted(kept, key=lambda check: -check.certainty)[:MAX_CHECKS]


def _checked_columns(encoder: ColumnEncoder, names: Sequence[str]) -> list[str]:
    """Return the columns that the encoder reads, without those that count rows."""
    counters = [name for name, why in encoder.left_out_.items() if why.kind == "row_counter"]
    return [name for name in names if encoder.is_read(name) and name not in counters]


def _located_checks(located: Sequence[Located]) -> list[ValueCheck]:
    """Return a check for each suspect; a row that is a total is named as such only."""
    checks = [one.check() for one in located if one.suspect.kind != "sum_row"]
    labelled = _named_rows(check for check in checks if check.kind == "total_row")
    sums = sum_rows(located)
    checks = [_confirmed_total(check, _named_rows(sums)) for check in checks]
    checks += [check for check in sums if not labelled.issuperset(check.rows)]
    totals = labelled | _named_rows(sums)
    return [check for check in checks if not _is_extreme_total(check, totals)]


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


def _without_repeats(
    checks: Sequence[ValueCheck], columns: Mapping[str, ColumnTally]
) -> list[ValueCheck]:
    """Return the checks without those that repeat another one in a column with the same cells."""
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


def _column_suspects(
    tally: ColumnTally, as_text: Collection[str], today: float
) -> tuple[list[Suspect], NumberFacts | None]:
    """Return the suspects of a column, and its numbers where it has any."""
    found: list[Suspect] = [] if tally.name in as_text else repeated_ids(tally)
    text = TextFacts.of(tally)
    facts = NumberFacts.of_numbers(tally)
    if text is not None:
        found += text_suspects(text)
        facts = NumberFacts.of_text(text, tally)
    if facts is None or not facts.sample.size or tally.name in as_text:
        return found, None
    if facts.of == "time":
        return [*found, *date_suspects(facts, today)], None
    if facts.whole and IDENTIFIER_NAME.search(facts.name):
        return found, None
    return [*found, *number_suspects(facts)], facts


def _today() -> float:
    """Start of tomorrow in UTC: cells have no time zone, and somewhere it is later."""
    now = datetime.now(UTC) + timedelta(days=1)
    return now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
