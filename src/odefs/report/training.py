"""Training in the report: selected columns, objective and kept examples of each component."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.tables.detection import TableDetection

MAX_COMPONENTS, MAX_COLUMNS = 60, 60
MAX_ROUNDS = 40


def collect_training(
    detection: TableDetection, importances: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return weights of at most 60 components and 60 columns; the largest per component is 1."""
    model, encoder = detection.model, detection.encoder
    info = model.fit_info_
    shown = [record["column"] for record in importances[:MAX_COLUMNS]]
    place = {name: k for k, name in enumerate(encoder.columns)}
    weights = encoder.by_column(np.asarray(model.feature_weights_, dtype=float)[:MAX_COMPONENTS])
    largest = weights.max(axis=1, keepdims=True)
    weights = weights / np.where(largest > 0, largest, 1.0)
    components = range(min(MAX_COMPONENTS, len(model.feature_subsets_)))
    traces = info.get("objective_traces", [])
    kept = info.get("examples_kept", [])
    return {
        "components_trained": len(model.feature_subsets_),
        "trust": getattr(model, "trust_", None),
        "trust_given": model.trust != "auto",
        "noise": list(detection.noise),
        "candidates": _number(info, "n_candidates"),
        "outlier_examples": _number(info, "n_outlier_examples"),
        "other_examples": _number(info, "n_unlabeled_examples"),
        "columns": shown,
        "weights": [[round(float(row[place[name]]), 3) for name in shown] for row in weights],
        "components": [
            {
                "component": i + 1,
                "columns": int(np.unique(encoder.sources[model.feature_subsets_[i]]).size),
                "loss": float(model.component_loss_[i]),
                "weight": float(model.component_weight_[i]),
                "kept": float(kept[i]) if i < len(kept) else None,
                "objective": [float(value) for value in traces[i][:MAX_ROUNDS]]
                if i < len(traces)
                else [],
            }
            for i in components
        ],
        "fallbacks": [
            str(getattr(fallback, "message", fallback)) for fallback in info.get("fallbacks", [])
        ],
    }


def _number(info: dict[str, Any], name: str) -> int | None:
    return int(info[name]) if name in info else None
