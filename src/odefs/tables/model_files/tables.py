"""Model files of tables: they hold the encoder too, so that a loaded model takes the raw frame."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.exceptions import ModelFileError
from odefs.kernels.row_reductions import counts_above
from odefs.models.base import OutlierModel
from odefs.models.files import Loaded, read_model, refused, save_model
from odefs.persist.header_values import need, need_number, require
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.reasons.training_rows import (
    TrainingRows,
    get_training,
    put_training,
    training_rows_of,
)
from odefs.tables.records.notes import Provenance
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import extent_of


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted model and encoder, with facts about the training table."""

    model: OutlierModel
    encoder: ColumnEncoder
    identifier: str | None
    flagged_share: float
    """Share of the training rows that were flagged, under the requested flagging rule."""
    shares_above: tuple[tuple[float, float], ...]
    """Thresholds with the share of training rows above each; empty in files of older versions."""
    hidden: tuple[str, ...]
    source: dict[str, Any]
    run: Provenance
    training: TrainingRows
    """What the file holds of the training rows, for reasons."""

    def share_above(self, threshold: float | None) -> float | None:
        """Share of training rows above a threshold (default: the model's); None if unknown."""
        return dict(self.shares_above).get(
            float(-self.model.offset_) if threshold is None else threshold
        )


def save_detection(found: TableDetection, path: str | os.PathLike[str]) -> None:
    """Write model and encoder to one file.

    It contains some rows of the training table (the references, and a sample for reasons), but no
    values per training row.
    """
    identifier = found.identifier if found.named else None
    noted: dict[str, Any] = {
        "identifier": identifier,
        "flagged_share": found.n_flagged / found.n_rows,
        "shares_above": shares_above(
            extent_of(found).scores, [float(-found.model.offset_), float(found.threshold)]
        ),
        "hidden": sorted(found.hidden),
        "source": found.source,
        "run": found.run,
        "training": _training_of(found),
    }
    save_table_model(path, found.model, found.encoder, **noted)


def _training_of(found: TableDetection) -> TrainingRows:
    """What is kept of the rows that the model was trained on."""
    if found.training is not None:
        return found.training
    drawn = extent_of(found).drawn
    ordinary = ~found.is_outlier[drawn] & ~np.isnan(found.scores[drawn])
    return training_rows_of(found.encoder.specs_, found.table.take(drawn), ordinary)


def shares_above(scores: np.ndarray, thresholds: list[float]) -> list[list[float]]:
    """Share of scores above each threshold.

    A model is used with its own threshold or the one requested in training, so other tables are
    compared with the training table under both.
    """
    apart = sorted(set(thresholds))
    return [
        [t, int(n) / scores.size]
        for t, n in zip(apart, counts_above(scores, np.array(apart)), strict=True)
    ]


def save_table_model(
    path: str | os.PathLike[str],
    model: OutlierModel,
    encoder: ColumnEncoder,
    identifier: str | None,
    flagged_share: float,
    shares_above: list[list[float]],
    hidden: list[str],
    source: dict[str, Any],
    run: Provenance,
    training: TrainingRows | None = None,
) -> None:
    """Write a model and its encoder with facts about the training table."""
    held, arrays = ({}, {}) if training is None else put_training(training)
    extra = {
        "encoder": encoder.state(),
        "identifier": identifier,
        "flagged_share": flagged_share,
        "shares_above": shares_above,
        "hidden": hidden,
        "source": source,
        "run": run.state(),
        # Versions that do not know this part ignore it, so the file format keeps its number.
        **({"training": held} if held else {}),
    }
    save_model(model, path, extra=extra, extra_arrays=arrays)


def load_table_model(path: str | os.PathLike[str]) -> TableModel:
    """Load a model of a table, without scikit-learn where possible."""
    loaded = read_model(path, bare=True)
    if loaded.extra is None or "encoder" not in loaded.extra:
        raise ModelFileError(
            f"{path}: this model was fitted to an array, not to a table; use it in Python."
        )
    return table_model(loaded, path)


def table_model(
    loaded: Loaded,
    path: str | os.PathLike[str],
    encoder_class: type[ColumnEncoder] = ColumnEncoder,
) -> TableModel:
    """Model and encoder from the contents of a file."""
    estimator, extra = loaded.estimator, loaded.extra or {}
    try:
        encoder = encoder_class.from_state(extra["encoder"])
        width, n_columns = (
            sum(len(spec.feature_names()) for spec in encoder.specs_),
            estimator.n_features_in_,
        )
        require(width == n_columns, f"it has {width} encoded columns and {n_columns} in the model")
        takes_missing = estimator.get_params(deep=False).get("missing") == "ignore"
        require(
            takes_missing or not encoder.keep_missing,
            "its encoder keeps missing numbers, which its model refuses",
        )
        identifier, hidden = extra.get("identifier"), need(extra, "hidden", list)
        require(
            identifier is None or type(identifier) is str,
            "the column that names the rows is not a name",
        )
        require(all(type(name) is str for name in hidden), "hidden columns are not names")
        share = need_number(extra, "flagged_share")
        shares = _read_shares(extra)
        source, run = need(extra, "source", dict), Provenance.from_state(need(extra, "run", dict))
        training = get_training(extra.get("training"), loaded.extra_arrays, encoder.specs_)
    except ModelFileError as error:
        raise refused(path, error) from None
    return TableModel(
        estimator, encoder, identifier, share, shares, tuple(hidden), source, run, training
    )


def _read_shares(extra: dict[str, object]) -> tuple[tuple[float, float], ...]:
    pairs = need(extra, "shares_above", list) if "shares_above" in extra else []
    for pair in pairs:
        numbers = (
            type(pair) is list
            and len(pair) == 2
            and all(type(part) in (int, float) for part in pair)
        )
        require(
            numbers and 0 <= pair[1] <= 1,
            "the shares of the training table above its thresholds are not shares",
        )
    return tuple((float(threshold), float(share)) for threshold, share in pairs)
