"""Provenance of a result: command, seed, parameters and versions, for reports and model files."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Integral
from typing import Any, Self

from odefs.persist.checks import require
from odefs.versions import collect_versions

PACKAGES = ("odefs", "python", "numpy", "scipy", "scikit-learn", "polars")
RESOLVED = (
    "n_components",
    "n_candidates",
    "n_outlier_examples",
    "n_unlabeled_examples",
    "candidate_threshold",
)
PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Provenance:
    """What produced a result. It contains no time, so that equal runs write equal bytes."""

    command: str | None = None
    """The command line; None for a result produced in Python."""
    seed: int | None = None
    parameters: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """Parameters of the estimator."""
    resolved: Mapping[str, float] = field(default_factory=dict)
    """Values chosen for parameters that are "auto", and the threshold."""
    versions: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of_model(cls, model: Any, command: str | None = None, seed: int | None = None) -> Self:
        """Return the provenance of a fitted model."""
        versions = collect_versions()
        parameters = {
            name: value if isinstance(value, PLAIN) else repr(value)
            for name, value in model.get_params().items()
            if name not in ("n_jobs", "verbose")
        }
        state = model.get_params().get("random_state")
        drawn_by = seed if seed is not None else int(state) if isinstance(state, Integral) else None
        return cls(
            command,
            drawn_by,
            parameters,
            _resolved(model),
            {name: versions[name] for name in PACKAGES},
        )

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Restore what :meth:`state` returned; raise :class:`ModelFileError` if it is invalid."""
        types = {"command": (str, type(None)), "seed": (int, type(None))}
        require(
            state.keys() <= cls.__dataclass_fields__.keys(),
            "its run has parts that this version does not know",
        )
        for name, value in state.items():
            require(
                type(value) in types.get(name, (dict,)), f"{name!r} of its run is of another type"
            )
        return cls(**state)

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def _resolved(model: Any) -> dict[str, float]:
    info = getattr(model, "fit_info_", {})
    found = {name: info[name] for name in RESOLVED if name in info}
    plain = {
        name: value.item() if hasattr(value, "item") else value for name, value in found.items()
    }
    return plain | {"threshold": float(-model.offset_)}
