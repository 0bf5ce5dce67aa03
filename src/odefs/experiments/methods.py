"""Methods of the evaluation by name.

A factory takes a seed and returns an estimator with ``fit`` and ``score_samples`` (or
``outlier_scores_``).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

Factory = Callable[[int], Any]

TABLE1 = ("LeSiNN", "ODEFS-paper", "ODEFS")
TABLE2 = ("RandFS", "DisFS", "RegFS", "CINFO", "ODEFS*", "ODEFS-paper", "ODEFS")
SELF_PACING = ("ODEFS-paper", "ODEFS-classic", "ODEFS*")


def built_in() -> dict[str, Factory]:
    """Return the paper's seven columns and the project's default.

    All methods of the paper use min-max scaling; "ODEFS-paper" is ``ODEFS.paper()``, "ODEFS*" the
    same without self-pacing.
    """
    from odefs import ODEFS, LeSiNN
    from odefs.baselines import CINFO, DisFS, RandFS, RegFS

    return {
        "LeSiNN": lambda seed: LeSiNN(random_state=seed),
        "RandFS": lambda seed: RandFS(random_state=seed),
        "DisFS": lambda seed: DisFS(random_state=seed),
        "RegFS": lambda seed: RegFS(random_state=seed),
        "CINFO": lambda seed: CINFO(random_state=seed),
        "ODEFS*": lambda seed: ODEFS.paper(selection__self_paced=False, random_state=seed),
        "ODEFS-classic": lambda seed: ODEFS.paper(
            selection__self_paced="classic", random_state=seed
        ),
        "ODEFS-paper": lambda seed: ODEFS.paper(random_state=seed),
        "ODEFS": lambda seed: ODEFS(random_state=seed),
    }


def resolve_method(name: str) -> Factory:
    """Return a built-in or peer method by name, or ``package.module:Class``."""
    if ":" in name:
        module, _, attribute = name.partition(":")
        try:
            cls = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"method {name!r} cannot be imported: {error}") from error
        return lambda seed: _with_seed(cls, seed)
    from odefs.experiments.peers import peers

    known = built_in() | peers()
    if name not in known:
        raise ValueError(
            f"method {name!r} is neither one of {', '.join(known)} nor of the form "
            "package.module:Class."
        )
    return known[name]


def _with_seed(cls: Callable[..., object], seed: int) -> object:
    """Return an instance with default parameters, and the seed if the class takes one."""
    try:
        return cls(random_state=seed)
    except TypeError:
        return cls()
