"""Choice of one of several tables by name; refusals name the tables there are."""

from collections.abc import Sequence

from odefs.exceptions import TableError
from odefs.tables.readers.option_names import option

SHOWN = 10


def chosen_name(names: Sequence[str], wanted: str | None, source: str, where: str) -> str:
    """Return the wanted table, or the only one; raise with a list of the names otherwise.

    ``where`` is the kind of ``source``, such as "the database".
    """
    if not names:
        raise TableError(f"{source}: {where} has no tables.")
    if wanted is not None and wanted in names:
        return wanted
    if wanted is not None:
        raise TableError(f"{source}: {where} has no table {wanted!r}, only {listed(names)}.")
    if len(names) == 1:
        return names[0]
    raise TableError(
        f"{source}: {where} has {len(names):,} tables ({listed(names)}): "
        f"choose one with {option('table', 'NAME')}."
    )


def listed(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    rest = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest
