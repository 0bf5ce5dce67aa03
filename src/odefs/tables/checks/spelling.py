"""Rare spellings of a category that differ little from a frequent one."""

import re
from collections.abc import Iterator

from odefs.tables.checks.facts import LEAST_CELLS, TextFacts
from odefs.tables.checks.record import Suspect

MIN_LETTERS = 5
"""Shorter words are often codes, and differ by one letter without an error."""
MAX_LETTERS = 60
"""Longer texts are sentences; the comparison of spellings takes memory quadratic in the length."""
FREQUENT = 5
"""Least number of rows with the frequent spelling."""
RATIO, CASE_RATIO = 10, 3
"""How much more frequent it is than the rare one."""
DISTINCT_SHARE = 0.5


def spelling_suspects(facts: TextFacts) -> list[Suspect]:
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
        and (len(level.strip()) >= 3 or level.strip() == frequent.strip())
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
    """Return the frequent spellings by what is left of them without one of their letters."""
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
