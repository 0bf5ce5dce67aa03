"""What a result came from: command, seed, parameters and versions, for the report, the JSON and the model file."""

from typing import Any

from odefs.versions import collect_versions

PACKAGES = ("odefs", "python", "numpy", "scipy", "scikit-learn", "polars")


def run_record(model: Any, command: str = "", seed: int | None = None) -> dict[str, Any]:
    """Of a fitted model. No time: equal runs leave equal bytes."""

    versions = collect_versions()
    plain = (str, int, float, bool, type(None))
    parameters = {
        k: v if isinstance(v, plain) else repr(v)
        for k, v in model.get_params().items()
        if k not in ("n_jobs", "verbose")
    }
    return {
        "command": command,
        "seed": seed if seed is not None else parameters.get("random_state"),
        "parameters": parameters,
        "resolved": _resolved(model),
        "versions": {name: versions[name] for name in PACKAGES},
    }


def _resolved(model: Any) -> dict[str, Any]:
    """The numbers that stood behind "auto" and the like."""
    names = ("n_components", "n_candidates", "n_outlier_examples", "n_unlabeled_examples", "candidate_threshold")
    info = getattr(model, "fit_info_", {})
    found = {name: info[name].item() if hasattr(info[name], "item") else info[name] for name in names if name in info}
    return found | {"threshold": float(-model.offset_)}
