"""Units behind numbers: ``70.5 kg``, ``200km``, ``21 °C``, ``12 m²``, ``80 km/h``, ``3 years``.

A column has a unit if nearly all of its cells have the same one, or one that converts to it
(:mod:`odefs.tables.encoder.magnitudes`). Codes such as ``12A``, ``3rd``, ``10XL``, ``5h30`` and
``711 ABC``, dates such as ``24 May`` and decades such as ``1960s`` are not numbers with a unit.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from odefs.tables.encoder.magnitudes import conversion, plain_magnitude
from odefs.tables.encoder.unit_names import is_unit_name

MIN_UNIT_SHARE = 0.9
"""Least share of cells with the unit of the column."""
MIN_NUMBERS = 3
"""Least number of distinct numbers; columns with fewer hold classes such as ``2 door``."""
LONGEST = 64
"""Characters of a cell; longer ones are not numbers."""
_PART = r"[^\W\d_]{1,12}(?:\^?[23])?"
UNIT = rf"(?:°[^\W\d_]?|{_PART}(?:[/·*]{_PART})?)"
_CELL = re.compile(rf"^(?P<number>[^%]*\d[.,]?)(?P<space>\s*+)(?P<unit>{UNIT})$")
NOT_UNITS = frozenset(["st", "nd", "rd", "th", "am", "pm", "xs", "xl", "xxl", "xxxl", "bc", "ad"])
"""Ordinal numbers, times of day, sizes of clothes and years."""
SINGLE = frozenset("mgshlWV")
"""Units of one letter that may follow whole numbers without a space, as other letters in codes."""


class Quantity(NamedTuple):
    """A cell with a unit."""

    number: str
    unit: str
    is_joined: bool
    """Whether no space is between number and unit."""


def quantity(text: str) -> Quantity | None:
    """Split a cell into number and unit; ``None`` if it is not made of these."""
    text = text.strip()
    match = _CELL.match(text) if len(text) <= LONGEST else None
    if match is None or match["unit"].lower() in NOT_UNITS:
        return None
    return Quantity(match["number"].strip(), match["unit"], not match["space"])


def unit_key(unit: str) -> str:
    """Return what equal units share: ``year`` and ``years``, ``m²`` and ``m2``."""
    key = unicodedata.normalize("NFKC", unit)
    return key[:-1] if len(key) > 2 and key.endswith("s") else key


def common_unit(texts: Sequence[str], weights: np.ndarray, is_number: bool = False) -> str | None:
    """Return the unit of nearly all cells, or ``None``.

    ``weights`` is how often each text occurs. ``is_number`` if the column is known to hold numbers;
    otherwise texts that may be codes have no unit.
    """
    found = [quantity(text) for text in texts]
    shares = _unit_shares(found, weights)
    if not shares:
        return None
    ((key, _),) = shares.most_common(1)
    alike = _convertible(shares, key)
    ours = [one for one in found if one is not None and unit_key(one.unit) in alike]
    if sum(alike.values()) < MIN_UNIT_SHARE * weights.sum() or _are_classes(ours):
        return None
    if not is_number and _may_be_codes(key, ours, weights):
        return None
    return _written(key, alike, ours)


def _unit_shares(cells: Sequence[Quantity | None], weights: np.ndarray) -> Counter[str]:
    """Return how many cells have each unit; a cell that is ``None`` has no unit."""
    shares: Counter[str] = Counter()
    for one, weight in zip(cells, weights.tolist(), strict=True):
        if one is not None:
            shares[unit_key(one.unit)] += weight
    return shares


def _convertible(shares: Mapping[str, float], unit: str) -> dict[str, float]:
    """Return the shares of the units that convert to ``unit``, itself included."""
    return {one: share for one, share in shares.items() if conversion(one, unit) is not None}


def _are_classes(cells: Sequence[Quantity]) -> bool:
    """Whether there are too few distinct numbers for measurements."""
    return len({one.number for one in cells}) < MIN_NUMBERS


def _written(unit: str, alike: Collection[str], cells: Sequence[Quantity]) -> str:
    """Return how a unit is written: the word for a magnitude, else as in most of the cells."""
    if plain := plain_magnitude(unit, alike, all(one.is_joined for one in cells)):
        return plain
    return Counter(one.unit for one in cells if unit_key(one.unit) == unit).most_common(1)[0][0]


def _may_be_codes(unit: str, cells: Sequence[Quantity], weights: np.ndarray) -> bool:
    """Whether whole numbers with a suffix may be codes, dates, decades or times of day.

    Without a space, that is so for most single letters and if each row has another number.
    """
    # Decimals are measurements, whatever follows them: ``711 ABC`` is a code, ``7.11 ABC`` is not.
    if not all(one.number.isdigit() for one in cells):
        return False
    if not is_unit_name(unit) or _are_times(unit, cells):
        return True
    is_letter = len(unit) == 1 and unit not in SINGLE
    return all(one.is_joined for one in cells) and (is_letter or bool((weights == 1).all()))


def _are_times(unit: str, cells: Sequence[Quantity]) -> bool:
    """Whether half of the cells are decades (``1960s``) or times of day (``1030h``)."""
    lengths = {"s": (4,), "h": (3, 4)}.get(unit, ())
    n_times = sum(one.is_joined and len(one.number) in lengths for one in cells)
    return 2 * n_times >= len(cells)
