"""Content of a JSON document: facts, which must not change, and sentences, which may.

Left out is what differs between runs or follows from the rest: versions, the command, ranks (near
ties may swap), histograms. Rows are stored by number and reasons by column, so that near ties do
not change their place.
"""

import hashlib
import math
from datetime import date, datetime, time

import numpy as np

TEXT_FILES = (".csv", ".tsv", ".dat", ".ndjson")
SCORE_FACTS = ("lowest", "median", "highest", "threshold", "scale")
AS_THEY_ARE = (
    "schema_version", "identifier", "rows", "flagged", "sampled", "labels", "agreement",
    "columns_used", "kinds_of_columns", "hidden", "drift", "max_flagged", "written", "skipped",
    "flagged_in_training", "without_input",
)  # fmt: skip
ROW_FACTS = ("name", "score", "agreement", "count", "twins", "outlier")
REASON_FACTS = ("kind", "value", "hidden", "direction", "share", "percentile", "frequency", "usual")
CELLS = ("value", "usual", "least", "most")
TRAINING_FACTS = (
    "components_trained",
    "trust",
    "noise",
    "candidates",
    "outlier_examples",
    "other_examples",
)


def digest(scores):
    """Of the bits of the scores."""
    return hashlib.sha256(np.ascontiguousarray(scores, dtype=np.float64).tobytes()).hexdigest()[:16]


def exact(value):
    """Cells of the table: numbers as text, since six digits of a time stamp are only a day."""
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    return f"{value:.12g}" if isinstance(value, float) else plain(value)


def plain(value):
    """As JSON holds it, numbers with six digits."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)


def document_facts(document):
    """Facts and sentences of any document of the command."""
    if "error" in document:
        error = document["error"]
        return {"error": {"kind": error["kind"], "exit_code": error["exit_code"]}}, {
            "error": error["message"]
        }
    facts = {name: document[name] for name in AS_THEY_ARE if name in document}
    sentences = {
        name: document[name] for name in ("convention", "notes", "left_out") if document.get(name)
    }
    if isinstance(document.get("rows"), list):
        return plain({"rows": {str(row["row"]): _row(row) for row in document["rows"]}}), plain(
            sentences
        )
    if "left_out" in document:
        facts["left_out"] = sorted(document["left_out"])
    if "scores" in document:
        facts["scores"] = {name: document["scores"][name] for name in SCORE_FACTS}
    if "source" in document:
        facts["source"] = _source(document["source"])
    if "run" in document:
        facts["seed"], facts["resolved"] = document["run"]["seed"], document["run"]["resolved"]
    if "top" in document:
        facts["top"] = {str(row["row"]): _row(row) for row in document["top"] if row["flagged"]}
    if "kinds" in document:
        facts["kinds"] = sorted(_group(kind) for kind in document["kinds"])
    if "importances" in document:
        facts["importances"] = {
            entry["column"]: entry["importance"] for entry in document["importances"]
        }
    if "training" in document:
        facts["training"] = {name: document["training"].get(name) for name in TRAINING_FACTS}
    if "distributions" in document:
        facts["distributions"] = {
            entry["column"]: _distribution(entry) for entry in document["distributions"]
        }
    return plain(facts), plain(sentences)


def _row(row):
    reasons = {reason["column"]: _some(reason, REASON_FACTS) for reason in row["reasons"]}
    return _some(row, ROW_FACTS) | {"reasons": reasons}


def _some(values, names):
    found = {name: values[name] for name in names if values.get(name) not in (None, False, [])}
    return {name: exact(value) if name in CELLS else value for name, value in found.items()}


def _source(source):
    """Bytes of compressed and columnar files depend on the library that wrote them."""
    names = ["name", "rows", "columns", "header"]
    return _some(
        source, [*names, "bytes", "sha256"] if source["name"].endswith(TEXT_FILES) else names
    )


def _group(kind):
    """What a group of rows has in common, as text that can be sorted."""
    traits = "; ".join(f"{trait['column']} {trait['what']}" for trait in kind["traits"])
    return f"{kind['count']} rows: {traits}"


def _distribution(entry):
    return _some(entry, ("kind", "rows", "missing", "least", "most"))


def estimator_facts(model):
    """Of a fitted estimator."""
    facts = {"flagged": np.flatnonzero(model.is_outlier_), "offset": model.offset_}
    for name in ("trust_", "feature_importances_", "noise_columns_", "feature_names_in_"):
        if getattr(model, name, None) is not None:
            facts[name] = getattr(model, name)
    if hasattr(model, "candidate_indices_"):
        facts["candidates"] = np.sort(model.candidate_indices_)
    if hasattr(model, "feature_subsets_"):
        facts["subsets"] = [len(subset) for subset in model.feature_subsets_]
        facts["stopping"] = model.fit_info_["stopping"]["reason"]
    return plain(facts)
