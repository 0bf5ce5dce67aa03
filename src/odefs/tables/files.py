"""Model files that know their table: the encoder stands beside the estimator, and a loaded model takes the raw frame."""

import os
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from odefs.detectors import Detector
from odefs.estimators.files import read_model, refused, save_model
from odefs.exceptions import ModelFileError
from odefs.persist.checks import need, need_number, require
from odefs.tables.detection import Detection
from odefs.tables.encoder import TableEncoder


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted model and encoder, and what was noted about the training table."""

    model: Any
    encoder: TableEncoder
    identifier: str | None
    flagged_share: float
    hidden: tuple[str, ...]
    source: dict[str, Any]
    run: dict[str, Any]


def save_detection(found: Detection, path: str | os.PathLike[str]) -> None:
    """Write model and encoder to one file. It holds rows of the training table, the references, and nothing of its length."""
    identifier = found.identifier if found.named else None
    flagged = found.n_flagged / found.n_rows
    save_table_model(
        path, found.model, found.encoder, identifier, flagged, sorted(found.hidden), found.source, found.run
    )


def save_table_model(
    path: str | os.PathLike[str],
    model: Any,
    encoder: TableEncoder,
    identifier: str | None,
    flagged_share: float,
    hidden: list[str],
    source: dict[str, Any],
    run: dict[str, Any],
) -> None:
    """Write a model and its encoder with what is noted about the training table."""
    extra = {
        "encoder": encoder.state(),
        "identifier": identifier,
        "flagged_share": flagged_share,
        "hidden": hidden,
        "source": source,
        "run": run,
    }
    save_model(model, path, extra=extra)


def load_table_model(path: str | os.PathLike[str]) -> TableModel:
    """A model that the command line saved."""
    loaded = read_model(path)
    if loaded.extra is None or "encoder" not in loaded.extra:
        raise ModelFileError(f"{path}: this model was fitted to an array, not to a table; use it in Python.")
    return _table_model(loaded.estimator, loaded.extra, path)


def _table_model(estimator: Any, extra: dict[str, Any], path: str | os.PathLike[str]) -> TableModel:
    try:
        encoder = TableEncoder.from_state(extra["encoder"])
        width, n_columns = sum(len(spec.feature_names()) for spec in encoder.specs_), estimator.n_features_in_
        require(width == n_columns, f"it has {width} encoded columns and {n_columns} in the model")
        identifier, hidden = extra.get("identifier"), need(extra, "hidden", list)
        require(identifier is None or type(identifier) is str, "the column that names the rows is not a name")
        require(all(type(name) is str for name in hidden), "hidden columns are not names")
        share = need_number(extra, "flagged_share")
        source, run = need(extra, "source", dict), need(extra, "run", dict)
    except ModelFileError as error:
        raise refused(path, error) from None
    return TableModel(estimator, encoder, identifier, share, tuple(hidden), source, run)


def load(path: str | os.PathLike[str], detector: Detector | None = None) -> Any:
    """A fitted estimator from a file that ``save`` or the command line wrote.

    A model of the command line comes back as a scikit-learn pipeline of encoder and estimator: it takes the raw data frame. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
    detector : Detector, optional
        Needed where the model was fitted with a detector of one's own.
    """
    loaded = read_model(path, detector)
    if loaded.extra is None or "encoder" not in loaded.extra:
        return loaded.estimator
    found = _table_model(loaded.estimator, loaded.extra, path)
    return Pipeline([("table", found.encoder), ("model", found.model)])
