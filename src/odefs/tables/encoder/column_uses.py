"""Uses of a column that exclude each other, such as to name the rows and to be left out."""

from collections.abc import Collection, Mapping

from odefs.exceptions import TableError

OF_CONTENT = ("keep", "number", "category")
"""Uses of a column that detection looks at."""
EXCLUDED = {
    "by": ("id", "label", "known", "drop", "keep", "number"),
    "id": ("label", "known", "drop", *OF_CONTENT),
    "label": ("known", "drop", *OF_CONTENT),
    "known": ("drop", *OF_CONTENT),
    "drop": OF_CONTENT,
    "number": ("category",),
}
"""For a use, those that exclude it, by the names of the options.

Not "hide": values of any column can be hidden, also of one that is left out, because files with the
data of the table and values to check have them.
"""


def excluded_use(uses: Mapping[str, Collection[str]]) -> tuple[str, str, str] | None:
    """Return a column and two of its uses that exclude each other; ``None`` if there is none.

    ``uses`` are the columns of each option.
    """
    for use, excluded in EXCLUDED.items():
        for name in uses.get(use, ()):
            for other in excluded:
                if name in uses.get(other, ()):
                    return name, use, other
    return None


def require_one_use(uses: Mapping[str, Collection[str]]) -> None:
    """Raise TableError for a column with two uses that exclude each other."""
    found = excluded_use(uses)
    if found is not None:
        name, use, other = found
        raise TableError(
            f"column {name!r} is given both as {use!r} and as {other!r}, which contradict each "
            "other: remove one of the two."
        )
