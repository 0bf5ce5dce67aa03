"""The input column that each output column of a fitted transformer comes from.

A transformer is read from its structure where that is known (pipelines, ``ColumnTransformer``,
``FeatureUnion``, the table transformers of skrub), then from the names it gives its output, and
otherwise by changing one input column at a time (:mod:`odefs.tables.pipelines.probe_columns`).
"""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from odefs.tables.frames.convert import frame_names
from odefs.tables.pipelines.probe_columns import (
    MixedColumnsError,
    Rows,
    UnknownOriginError,
    probe,
    select_columns,
)

MARK = re.compile(r"\x00(\d+)\x01")
"""An input column in the name of an output column."""
MIXING = frozenset(["Normalizer"])
"""Transformers whose output columns have the names of input columns, but depend on all of them."""
MAX_LISTED = 3
REMEDY = (
    "Explain the model on the output of the steps before it, "
    "pipeline[-1].explain(pipeline[:-1].transform(X)), or leave the step out."
)
REMEDIES = {
    "width": "Use a step whose output has the same columns for any rows.",
    "unknown": "If each output column is computed from the input column at its place, give the "
    "step a get_feature_names_out that returns the names of its input "
    "(FunctionTransformer: feature_names_out='one-to-one'). Otherwise, pass more rows, or explain "
    "the model alone: pipeline[-1].explain(pipeline[:-1].transform(X)).",
}

Path = tuple[str, ...]


class UntraceableStepError(ValueError):
    """The output of a step does not belong to single input columns.

    Attributes
    ----------
    step : names of the step and of those it is nested in, outermost first
    kind : "mixed" (an output column is computed from several input columns), "width" (the number of
        output columns depends on the rows) or "unknown"
    columns : input columns that are mixed
    """

    def __init__(
        self,
        path: Path,
        step: object,
        kind: Literal["mixed", "width", "unknown"],
        columns: Sequence[str] = (),
    ) -> None:
        self.step, self.kind, self.columns = path, kind, tuple(columns)
        listed = ", ".join(repr(name) for name in columns[:MAX_LISTED])
        more = f" and {len(columns) - MAX_LISTED} more" if len(columns) > MAX_LISTED else ""
        facts = {
            "mixed": f"one of its output columns is computed from {listed}{more}.",
            "width": "the number of its output columns depends on the rows.",
            "unknown": "neither their names nor changes of single columns in these rows indicate "
            "from which ones they are computed.",
        }
        super().__init__(
            f"step {' > '.join(map(repr, path))}: the output columns of {type(step).__name__} "
            f"cannot be traced back to its input columns: {facts[kind]} "
            f"{REMEDIES.get(kind, REMEDY)}"
        )


def is_skipped(step: object) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def origins_of(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray:
    """Return, for each output column of a fitted transformer, the position of its input column.

    Parameters
    ----------
    step : transformer
    rows : a few rows of its input
    labels : names of the input columns, for errors
    path : names of the step and of those it is nested in
    """
    n_in = rows.shape[1]
    if is_skipped(step):
        return np.arange(n_in)
    if hasattr(step, "steps"):
        return _pipeline(step, rows, labels, path)
    if hasattr(step, "transformer_list"):
        return _union(step, rows, labels, path)
    if hasattr(step, "output_indices_"):
        return _column_transformer(step, rows, labels, path)
    # With one input column there is nothing to find out, whatever the step does with it.
    if n_in == 1:
        return np.zeros(step.transform(rows).shape[1], dtype=np.intp)
    if type(step).__name__ in MIXING:
        raise UntraceableStepError(path, step, "mixed", labels)
    for find in (_table_encoder, _skrub, _by_names):
        found = find(step, rows, labels, path)
        if found is not None:
            return found
    return _by_probing(step, rows, labels, path)


def _pipeline(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray:
    origins: np.ndarray = np.arange(rows.shape[1])
    for name, inner in step.steps:
        if is_skipped(inner):
            continue
        origins = origins[origins_of(inner, rows, [labels[k] for k in origins], (*path, name))]
        rows = inner.transform(rows)
    return origins


def _union(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray:
    parts = [
        origins_of(inner, rows, labels, (*path, name))
        for name, inner in step.transformer_list
        if not (isinstance(inner, str) and inner == "drop")
    ]
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])


def _column_transformer(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray:
    trained = [str(name) for name in getattr(step, "feature_names_in_", [])]
    chosen_by = _Selection(trained, frame_names(rows), step.n_features_in_)
    outputs = step.output_indices_
    sources = np.full(max(part.stop for part in outputs.values()), -1, dtype=np.intp)
    for name, inner, columns in step.transformers_:
        part = outputs[name]
        width = part.stop - part.start
        if width == 0:
            continue
        chosen = chosen_by.positions(columns)
        if chosen.size == 1:  # which a scalar selects as a series
            own = np.zeros(width, dtype=np.intp)
        else:
            own = origins_of(
                inner, select_columns(rows, chosen), [labels[k] for k in chosen], (*path, name)
            )
        if own.size != width:
            raise UntraceableStepError((*path, name), inner, "width")
        sources[part] = chosen[own]
    return sources


class _Selection:
    """Columns of a ColumnTransformer as positions in its present input.

    A transformer fitted to a frame selects by name; even integers refer to the training frame.
    """

    def __init__(self, trained: list[str], given: list[str] | None, n_in: int) -> None:
        self.place = {name: k for k, name in enumerate(trained)}
        self.trained, self.n_in = trained, n_in
        by_name = bool(trained) and given is not None
        self.now = {name: k for k, name in enumerate(given or [])} if by_name else None

    def positions(self, columns: Any) -> np.ndarray:
        found = self._in_training(columns)
        if self.now is None:
            return found
        return np.array([self.now[self.trained[k]] for k in found], dtype=np.intp)

    def _in_training(self, columns: Any) -> np.ndarray:
        """Return positions in the training frame; slices of names include their end."""
        place = self.place
        if isinstance(columns, slice):
            start, stop = columns.start, columns.stop
            first = place[start] if isinstance(start, str) else start
            last = place[stop] + 1 if isinstance(stop, str) else stop
            return np.arange(self.n_in)[first : last : columns.step]
        chosen = [columns] if isinstance(columns, str | int) else list(columns)
        if chosen and isinstance(chosen[0], bool | np.bool_):
            return np.flatnonzero(chosen)
        return np.array(
            [place[c] if isinstance(c, str) else int(c) % self.n_in for c in chosen], dtype=np.intp
        )


def _table_encoder(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray | None:
    """Read a :class:`odefs.TableEncoder`, which selects columns by name."""
    if not hasattr(step, "specs_"):
        return None
    place = {name: k for k, name in enumerate(_names_of_input(step, rows))}
    return np.array([place[step.columns[k]] for k in step.sources], dtype=np.intp)


def _names_of_input(step: Any, rows: Rows) -> list[str]:
    given = frame_names(rows)
    if given is not None:
        return given
    trained = getattr(step, "feature_names_in_", None)
    n_in = rows.shape[1]
    return [f"x{k}" for k in range(n_in)] if trained is None else [str(name) for name in trained]


def _skrub(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray | None:
    """Read the transformers of skrub that treat columns one by one.

    ``TableVectorizer`` and ``ApplyToCols`` list what they created from each column; ``Cleaner``
    lists what it did to each. Other columns keep their names.
    """
    created = _created_by_skrub(step) if hasattr(step, "all_outputs_") else None
    if created is None:
        return None
    given = frame_names(rows)
    place = {name: k for k, name in enumerate(_skrub_names(step) if given is None else given)}
    inputs = [str(created.get(name, name)) for name in step.all_outputs_]
    if not all(name in place for name in inputs):
        return None
    return np.array([place[name] for name in inputs], dtype=np.intp)


def _created_by_skrub(step: object) -> Mapping[str, object] | None:
    """Return the input columns of created output columns; ``None`` if the step lists nothing."""
    created: Mapping[str, object] | None = getattr(step, "output_to_input_", None)
    if created is None and hasattr(step, "all_processing_steps_"):
        return {}
    return created


def _skrub_names(step: object) -> list[str]:
    """Return the names that skrub gives the columns of an array."""
    trained = getattr(step, "feature_names_in_", None)
    return list(getattr(step, "all_processing_steps_", trained or []))


def _by_names(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray | None:
    """Mark the input columns, and look for the marks in the names of the output."""
    names = _marked_names(step, rows.shape[1])
    if names is None:
        return None
    marks = [sorted(set(map(int, MARK.findall(str(name))))) for name in names]
    mixed = next((found for found in marks if len(found) > 1), None)
    if mixed is not None:
        raise UntraceableStepError(path, step, "mixed", [labels[k] for k in mixed])
    if not all(marks):
        return None
    return np.array([found[0] for found in marks], dtype=np.intp)


def _marked_names(step: Any, n_in: int) -> Iterable[object] | None:
    """Return the names of the output for marked input; ``None`` if the step has no names."""
    if not hasattr(step, "get_feature_names_out"):
        return None
    # scikit-learn refuses names that differ from those of the training frame. The copy is shallow:
    # the step itself keeps its names.
    nameless = copy.copy(step)
    vars(nameless).pop("feature_names_in_", None)
    marked = np.array([f"\x00{k}\x01" for k in range(n_in)], dtype=object)
    try:
        names: Iterable[object] = nameless.get_feature_names_out(marked)
    except Exception:  # the step has no names, or takes none: whatever it raises
        return None
    return names


def _by_probing(step: Any, rows: Rows, labels: Sequence[str], path: Path) -> np.ndarray:
    try:
        return probe(step.transform, rows)
    except MixedColumnsError as error:
        columns = [labels[k] for k in error.columns]
        raise UntraceableStepError(path, step, "mixed", columns) from None
    except UnknownOriginError as error:
        raise UntraceableStepError(path, step, "unknown") from error.__cause__
