"""ONNX export: fitted models as graphs that run without Python.

ONNX runtimes exist for Java, C#, JavaScript, databases and browsers. Scaling, components,
combination and threshold become one graph (``export``); each detector has a file that writes its
score.
"""

import os
from typing import TYPE_CHECKING

from odefs._extras import require_extra

if TYPE_CHECKING:
    from onnx import ModelProto

    from odefs.estimators.base import BaseOutlierEstimator

__all__ = ["export_onnx"]


def export_onnx(
    model: "BaseOutlierEstimator",
    path: str | os.PathLike[str] | None = None,
    *,
    input_dtype: str | None = None,
) -> "ModelProto":
    """Export a fitted model as an ONNX graph.

    The graph has one input, ``X`` of shape (n_rows, n_columns) with any number of rows, and three
    outputs of shape (n_rows,): ``score`` (``outlier_scores``: high = abnormal, training rows
    average 1.0), ``decision`` (``decision_function``) and ``label`` (``predict``: -1 for outliers,
    1 for others). Like a model file it contains rows of the training data, the references from
    which scores are computed: treat it as confidential as the data.

    Parameters
    ----------
    model : fitted ODEFS, LeSiNN or competitor
        With one of the built-in detectors.
    path : str or path, optional
        File to write the graph to (atomically).
    input_dtype : {"float32", "float64"}, optional
        Type of ``X``; by default that of the rows the model was fitted to.

    Returns
    -------
    graph : onnx.ModelProto
    """
    with require_extra("export_onnx", "onnx"):
        from odefs.compat.onnx.export import build_model
    graph = build_model(model, input_dtype)
    if path is not None:
        from odefs.persist.file_format import replace_file

        replace_file(path, [graph.SerializeToString()])
    return graph
