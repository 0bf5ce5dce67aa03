"""Results as a data frame of the library that the table came in."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from odefs.exceptions import TableError

LIBRARIES = ("pandas", "polars", "pyarrow")
"""Libraries for the results of an array, in order of preference."""

Library = nw.Implementation


def library_of(frame: object) -> Library | None:
    """Return the data frame library of a table; ``None`` for arrays."""
    native = nw.from_native(frame, eager_only=True, pass_through=True)
    return native.implementation if isinstance(native, nw.DataFrame) else None


def as_frame(
    columns: Mapping[str, np.ndarray | Sequence[object]], library: Library | None, index: Any = None
) -> Any:
    """Return the columns as a frame of the library; pandas frames get the index, if there is one.

    Without a library, the first that is installed is used. Columns without any value are of text,
    so that frames of several tables can be joined.
    """
    backend: Any = library or _installed()
    made = nw.from_dict(dict(columns), backend=backend)
    empty = [name for name, kind in made.schema.items() if kind == nw.Unknown]
    made = made.with_columns(nw.col(name).cast(nw.String) for name in empty) if empty else made
    native: Any = made.to_native()
    if index is not None and made.implementation.is_pandas_like():
        native.index = index
    return native


def _installed() -> str:
    for name in LIBRARIES:
        if find_spec(name) is not None:
            return name
    raise TableError(f"results as a frame need {', '.join(LIBRARIES[:-1])} or {LIBRARIES[-1]}.")
