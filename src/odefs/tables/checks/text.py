"""Checks of text: numbers among words, words among numbers, labels of totals, rare spellings."""

import re
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from odefs.tables.checks.facts import LEAST_CELLS, TextFacts
from odefs.tables.encoder.text_formats import TEXT_FORMATS, read_levels
from odefs.tables.records.checks import Suspect

FEW_NUMBERS, FEW_TEXTS = 0.01, 0.02
"""More such cells belong to the column, e.g. to codes of which most are numbers."""
FREE_TEXT_SHARE = 0.5
"""With more distinct values, cells are names or titles, in which numbers are ordinary."""
DIGITS = re.compile(r"\d")
TOTALS = re.compile(
    r"(?:(?:(?:grand|overall|sub)[ -]?)?totals?|(?:gesamt|zwischen)?summe|gesamt|totale):?",
    re.IGNORECASE,
)
GROUP_TOTALS = re.compile(
    r"(?:sub[ -]?)?totals?:?(?: (?:of|for|in))? (?P<after>.+)"
    r"|(?P<before>.+?):? (?:sub[ -]?)?totals?:?",
    re.IGNORECASE,
)
"""Totals of a group, such as ``Total North`` and ``North Total``, which spreadsheets write."""
TOTAL_SHARE = 0.35
"""Totals of a few groups may be a third of the rows."""
POSSIBLE_NAME = 0.5
"""Certainty of totals in a column of names, of which "Total" may be one."""
SUMMARIES = re.compile(
    r"(?:sum|somme|suma|insgesamt):?|overall|all|average|mean|n ?= ?\d[\d.,]*", re.IGNORECASE
)
"""Also labels of totals, but ordinary words where they occur more than once."""


def _never(text: str) -> bool:
    return False


def text_suspects(facts: TextFacts, repeated: Callable[[str], bool] = _never) -> list[Suspect]:
    """Return the suspects of a column of text.

    ``repeated`` tells whether a text is a repeated value of some column, in lower case.
    """
    found = (_unreadable(facts), _numbers(facts), _totals(facts, repeated))
    return [*(one for one in found if one is not None), *_spelling_suspects(facts)]


def _unreadable(facts: TextFacts) -> Suspect | None:
    """Text in a column of numbers or dates."""
    if facts.style is None or facts.n < LEAST_CELLS:
        return None
    is_lost = np.isnan(facts.read)
    if not 0 < facts.counts[is_lost].sum() <= max(2, FEW_TEXTS * facts.n):
        return None
    lost = [facts.levels[k] for k in np.flatnonzero(is_lost)]
    return facts.suspect("text_in_numbers", 0.9, lost, usual=(facts.style.name,))


def _numbers(facts: TextFacts) -> Suspect | None:
    """A few numbers in a column of words."""
    if facts.style is not None or facts.n < LEAST_CELLS:
        return None
    if len(facts.levels) > FREE_TEXT_SHARE * facts.n:
        return None
    has_digits = np.array([bool(DIGITS.search(level)) for level in facts.levels])
    places = np.flatnonzero(has_digits)
    read = read_levels([facts.levels[k] for k in places], TEXT_FORMATS["numbers"])
    is_number = np.zeros(len(facts.levels), dtype=bool)
    is_number[places[~np.isnan(read)]] = True
    n_numbers = int(facts.counts[is_number].sum())
    n_with_digits = int(facts.counts[has_digits & ~is_number].sum())
    if not 0 < n_numbers <= max(2, FEW_NUMBERS * facts.n) or n_with_digits > 0.1 * facts.n:
        return None
    numbers = [facts.levels[k] for k in np.flatnonzero(is_number)]
    return facts.suspect("number_in_text", 0.7, numbers)


def _totals(facts: TextFacts, repeated: Callable[[str], bool]) -> Suspect | None:
    """Rows labelled as totals among the data."""
    counts = dict(zip(facts.levels, facts.counts.tolist(), strict=True))
    labels = _total_labels(counts, facts.n >= LEAST_CELLS)
    of_others = [level for level in counts if level not in labels and _names_any(level, repeated)]
    labels += of_others
    count = sum(counts[label] for label in labels)
    if not labels or count > TOTAL_SHARE * facts.n or len(facts.levels) < 3:
        return None
    is_name = len(facts.levels) > 0.9 * facts.n and not of_others
    return facts.suspect("total_row", POSSIBLE_NAME if is_name else 0.95, labels)


def _total_labels(counts: dict[str, int], is_long: bool) -> list[str]:
    """Return the values that are labels of totals; ``is_long`` is whether there are many cells."""
    groups = {level.strip().casefold(): count for level, count in counts.items()}
    return [
        level
        for level, count in counts.items()
        if _is_total(level.strip(), is_long and count == 1) or _is_group_total(level, count, groups)
    ]


def _is_total(label: str, is_single: bool) -> bool:
    """Whether a cell is the label of a total; some words are only if a single cell has them."""
    return bool(TOTALS.fullmatch(label) or (is_single and SUMMARIES.fullmatch(label)))


def _names_any(label: str, repeated: Callable[[str], bool]) -> bool:
    """Whether a label names the total of a group that is a value of another column."""
    found = GROUP_TOTALS.fullmatch(label.strip())
    return found is not None and repeated((found["after"] or found["before"]).strip().casefold())


def _is_group_total(label: str, count: int, groups: Mapping[str, int]) -> bool:
    """Whether a label names the total of a group, a value of the column that has more rows."""
    found = GROUP_TOTALS.fullmatch(label.strip())
    if found is None:
        return False
    return groups.get((found["after"] or found["before"]).strip().casefold(), 0) > count


MIN_LETTERS = 5
"""Shorter words are often codes, and differ by one letter without an error."""
MAX_LETTERS = 60
"""Longer texts are sentences; the comparison of spellings takes memory quadratic in the length."""
FREQUENT = 5
"""Least number of rows with the frequent spelling."""
RATIO, CASE_RATIO = 10, 3
"""How much more frequent it is than the rare one."""
DISTINCT_SHARE = 0.5


def _spelling_suspects(facts: TextFacts) -> list[Suspect]:
    """Return rare spellings, each with the frequent spelling that it resembles."""
    if facts.style is not None or facts.n < LEAST_CELLS:
        return []
    if len(facts.levels) > DISTINCT_SHARE * facts.n:
        return []
    counts = dict(zip(facts.levels, facts.counts.tolist(), strict=True))
    variants = _case_variants(counts)
    edits = _one_edit(counts, set(variants))
    return [
        *(
            facts.suspect("case_or_spaces", 0.8, (rare,), (frequent,), counts[frequent])
            for rare, frequent in variants.items()
        ),
        *(
            facts.suspect("spelling", 0.75, (rare,), (frequent,), counts[frequent])
            for rare, frequent in edits.items()
        ),
    ]


def _case_variants(counts: dict[str, int]) -> dict[str, str]:
    """Spellings that differ from a more frequent one in case or spaces only."""
    best: dict[str, str] = {}
    for level in sorted(counts, key=lambda one: (-counts[one], one)):
        best.setdefault(_folded(level), level)
    return {
        level: frequent
        for level, count in counts.items()
        if (frequent := best[_folded(level)]) != level
        and count * CASE_RATIO <= counts[frequent]
        # Single letters are codes, of which both cases may be in use.
        and (len(level.strip()) > 1 or level.strip() == frequent.strip())
    }


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _one_edit(counts: dict[str, int], skipped: set[str]) -> dict[str, str]:
    """Rare spellings one letter away from a frequent one.

    None where as many pairs of common values are that close: gene names, for instance.
    """
    frequent = _frequent_by_shortened(counts)
    found, n_ordinary = {}, 0
    for level, count in counts.items():
        if level in skipped or not MIN_LETTERS <= len(level) <= MAX_LETTERS:
            continue
        close = _one_letter_away(level, frequent)
        best = max(close, key=lambda other: (counts[other], other), default=None)
        if best is not None and counts[best] >= RATIO * count:
            found[level] = best
        elif best is not None:
            n_ordinary += 1
    return found if len(found) > n_ordinary else {}


def _frequent_by_shortened(counts: dict[str, int]) -> dict[str, list[str]]:
    """Return the frequent spellings by what is left of them without one of their letters.

    Two words that differ by one letter, or by two that are swapped, have such a rest in common.
    Looking it up replaces the comparison of all pairs of values.
    """
    frequent: dict[str, list[str]] = {}
    for level in sorted(counts, key=lambda one: (-counts[one], one)):
        if counts[level] >= FREQUENT and MIN_LETTERS <= len(level) <= MAX_LETTERS:
            for shorter in _shortened(_folded(level)):
                frequent.setdefault(shorter, []).append(level)
    return frequent


def _one_letter_away(level: str, frequent: dict[str, list[str]]) -> set[str]:
    """Return the frequent spellings of which ``level`` is a slip."""
    folded = _folded(level)
    return {
        other
        for shorter in _shortened(folded)
        for other in frequent.get(shorter, ())
        if _is_slip(folded, _folded(other))
    }


def _shortened(word: str) -> Iterator[str]:
    """Yield the word, and the word without each of its letters."""
    yield word
    for k in range(len(word)):
        yield word[:k] + word[k + 1 :]


def _is_slip(rare: str, frequent: str) -> bool:
    """Whether one letter was left out, added, replaced or swapped with the next in a long word."""
    if rare == frequent:
        return False
    start, end = _common_ends(rare, frequent)
    one, other = rare[start : len(rare) - end], frequent[start : len(frequent) - end]
    is_edit = max(len(one), len(other)) == 1 or (len(one) == 2 and one == other[::-1])
    # The first letter is hardly ever wrong: mother is not a misspelled other.
    if not is_edit or not (one + other).isalpha() or start == 0:
        return False
    return len(_word_at(frequent, start)) >= MIN_LETTERS and len(_word_at(rare, start)) >= 4


def _common_ends(one: str, other: str) -> tuple[int, int]:
    """Return how many letters two words share at the start, and how many more at the end."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start, end


def _word_at(text: str, place: int) -> str:
    """Return the word around a place; empty at a space, and for words with digits."""
    for match in re.finditer(r"\w+", text):
        if match.start() <= place <= match.end():
            return match[0] if match[0].isalpha() else ""
    return ""
