"""Column names as a file gives them, and the unique names under which its columns are used.

Space around a name is dropped, columns without a name are numbered, and repeated names get a
number: ``price``, ``price (2)``. Names that someone expects, such as those of a saved model, are
kept as they are.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from odefs.tables.records.notes import Note

NAMED_REPEATS = 3
"""Up to this many repeated names get a note each; the others are only counted."""


@dataclass(frozen=True)
class ColumnNames:
    """Names as given without space around them, and the unique names used instead."""

    given: tuple[str, ...]
    used: tuple[str, ...]

    @classmethod
    def of(
        cls, given: Sequence[str], expected: Collection[str] = (), strips: bool = True
    ) -> "ColumnNames":
        """Name the columns; ``expected`` names stay as they are, with ``strips=False`` all do.

        A padded name also stays as it is if another column has the name without the space.
        """
        plain = tuple(given)
        if strips:
            fixed = {*given, ""}
            plain = tuple(
                name if name in expected or name.strip() in fixed else name.strip()
                for name in given
            )
        return cls(plain, tuple(_unique(plain, expected)))

    @property
    def notes(self) -> list[Note]:
        """Notes on missing and repeated names."""
        pairs = zip(self.given, self.used, strict=True)
        nameless = tuple(used for given, used in pairs if not given.strip())
        notes = [Note("unnamed_columns", columns=nameless)] if nameless else []
        repeated = [name for name, n in Counter(self.given).items() if n > 1 and name.strip()]
        notes += [self._repeat_note(name) for name in repeated[:NAMED_REPEATS]]
        more = len(repeated) - NAMED_REPEATS
        return [*notes, Note("more_repeated_names", count=more)] if more > 0 else notes

    def _repeat_note(self, name: str) -> Note:
        pairs = zip(self.given, self.used, strict=True)
        return Note(
            "repeated_name", name, tuple(used for given, used in pairs if given == name)[1:]
        )


def numbered(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns without a header."""
    return tuple(f"column {place}" for place in range(1, n_columns + 1))


def _unique(given: Sequence[str], expected: Collection[str]) -> Iterator[str]:
    # Names of the file come first: ``price (2)`` may be one of them.
    taken = {name for name in given if name.strip()}
    seen: set[str] = set()
    tried: Counter[str] = Counter()
    for place, name in enumerate(given, start=1):
        wanted = name if name.strip() else f"column {place}"
        found, is_free = wanted, wanted not in seen and (bool(name.strip()) or wanted not in taken)
        while not is_free:
            # Do not try a number twice: a header may repeat one name thousands of times.
            tried[wanted] += 1
            found = _repeated(wanted, tried[wanted] + 1, expected)
            is_free = found not in taken and found not in seen
        seen.add(found)
        yield found


def _repeated(name: str, number: int, expected: Collection[str]) -> str:
    """Return the name of the ``number``-th column of a name, from 2.

    A model may expect the form of the library that its table was read with: pandas, polars or
    fastexcel.
    """
    own = f"{name} ({number})"
    others = (f"{name}.{number - 1}", f"{name}_duplicated_{number - 2}", f"{name}_{number - 1}")
    return next((form for form in others if form in expected), own)
