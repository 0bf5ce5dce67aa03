"""Suffixes of numbers that convert to each other: ``70.1K`` and ``9.5M``, ``800 MB`` and ``2 GB``.

A column has the suffix of most of its cells, and numbers with another one are converted to it.
"""

from collections.abc import Collection
from types import MappingProxyType

_WORDS = {
    1e3: ("k", "thousand"),
    1e6: ("mn", "mln", "mio", "million"),
    1e9: ("bn", "mrd", "billion"),
    1e12: ("tn", "trillion"),
}
PLAIN = MappingProxyType({word: factor for factor, words in _WORDS.items() for word in words})
"""Magnitudes that are not also units."""
MAGNITUDES = MappingProxyType(
    {**PLAIN, "K": 1e3, "M": 1e6, "m": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
)
"""All magnitudes; letters that are units too, such as metres, count if others are in the column."""
_BYTES = {f"{letter}B": 1e3**k for k, letter in enumerate(["", "K", "M", "G", "T", "P"])}
_BINARY = {f"{letter}iB": 1024.0**k for k, letter in enumerate("KMGTP", 1)}
BYTES = MappingProxyType({**_BYTES, "kB": 1e3, **_BINARY})
OPPOSITES = tuple(map(frozenset, (("N", "S", "E", "W"), ("CR", "DR"))))
"""Directions, and credit and debit: their numbers are not comparable."""


def conversion(unit: str, target: str) -> float | None:
    """Return what one ``unit`` is in ``target``; ``None`` if they do not convert."""
    if unit == target:
        return 1.0
    # Cell by cell, so that the largest amount, $9.5M among $70.1K, is not lost as another unit.
    for factors in (MAGNITUDES, BYTES):
        if unit in factors and target in factors:
            return factors[unit] / factors[target]
    return None


def plain_magnitude(unit: str, others: Collection[str], is_joined: bool) -> str | None:
    """Return the name of a magnitude that is not also a unit; ``None`` if it may be a unit.

    Letters are magnitudes if there are ``others`` in the column, or if they are thousands or
    millions without a space before (``is_joined``).
    """
    factor = MAGNITUDES.get(unit)
    if factor is None:
        return None
    n_factors = len({MAGNITUDES.get(other) for other in others})
    is_sure = unit in PLAIN or n_factors > 1 or (is_joined and unit in ("K", "M"))
    return _WORDS[factor][0] if is_sure else None


def of_bare_numbers(unit: str) -> float:
    """Return what a number without suffix counts in a column of this unit."""
    return 1 / PLAIN.get(unit, 1.0)


def are_opposite(units: Collection[str]) -> bool:
    """Whether units include two directions, or credit and debit."""
    return any(len(pair.intersection(units)) > 1 for pair in OPPOSITES)
