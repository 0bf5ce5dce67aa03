"""What a fitted estimator found, as a small table below scikit-learn's diagram in notebooks."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from odefs.inspection.explanation_table import short_text

if TYPE_CHECKING:
    from odefs.models.base import OutlierModel

COLUMNS = 5
"""Columns that are named."""


def fitted_facts(model: "OutlierModel") -> list[tuple[str, str]]:
    """Return names and values of what the fit found; a model from a file knows less."""
    attributes = vars(model)
    threshold = f"{-model.offset_:.4g}"
    flagged = attributes.get("is_outlier_")
    if flagged is not None:
        n_flagged = int(np.count_nonzero(flagged))
        threshold += f" ({n_flagged:,} of {len(flagged):,} training rows score higher)"
    facts = [("threshold", threshold)]
    if "trust_" in attributes:
        facts.append(("trust_", _trust(float(attributes["trust_"]))))
    if "feature_importances_" in attributes:
        facts.append(("feature_importances_", _importances(model)))
    if "noise_columns_" in attributes:
        facts.append(("noise_columns_", _noise(model, attributes["noise_columns_"])))
    return facts


def facts_html(model: "OutlierModel") -> str:
    """Return the facts as HTML; its size is bounded whatever the table."""
    style = 'style="text-align: left; vertical-align: top"'
    lines = "".join(
        f"<tr><th {style}>{escape(name)}</th><td {style}>{escape(value)}</td></tr>"
        for name, value in fitted_facts(model)
    )
    return f'<table class="odefs-facts"><tbody>{lines}</tbody></table>'


def _trust(trust: float) -> str:
    if trust == 0:
        return "0 (all columns are weighted equally, apart from noise columns)"
    return f"{trust:.2f} (share of learned columns in the score)"


def _importances(model: "OutlierModel") -> str:
    shares = np.asarray(vars(model)["feature_importances_"])
    order = [int(k) for k in np.argsort(-shares, kind="stable")[:COLUMNS] if shares[k] > 0]
    if not order:
        return "none: no column separates suspicious rows from the rest"
    names = model._feature_names()
    listed = ", ".join(f"{short_text(str(names[k]))} {100 * shares[k]:.0f}%" for k in order)
    return listed + _more(int(np.count_nonzero(shares > 0)) - len(order))


def _noise(model: "OutlierModel", columns: Sequence[int]) -> str:
    if not len(columns):
        return "none"
    names = model._feature_names()
    shown = [short_text(str(names[int(k)])) for k in columns[:COLUMNS]]
    return f"down-weighted: {', '.join(shown)}{_more(len(columns) - len(shown))}"


def _more(n_columns: int) -> str:
    return f" and {n_columns:,} more" if n_columns else ""
