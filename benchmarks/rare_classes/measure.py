"""``odefs.detect`` and other detectors on one table."""

import warnings

import numpy as np
from pyod.models.ecod import ECOD
from pyod.models.hbos import HBOS
from pyod.models.inne import INNE
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest

import odefs
from benchmarks.rare_classes.labelled import Labelled
from odefs.ensemble import companions
from odefs.experiments.accuracy.value_frequencies import BASELINES, table_codes
from odefs.experiments.run import evaluate
from odefs.tables.frames.convert import columns_of

ALWAYS, NEVER = (-2.0, -1.0), (2.0, 3.0)
RELATED = {
    "odefs.detect": companions.RELATED_SHARE,
    "relations always": ALWAYS,
    "no relations": NEVER,
}
"""From which strength on relations count; the first is the default."""


def measure(table: Labelled) -> dict[str, np.ndarray]:
    """AUC, average precision and p@k of every detector on a table."""
    warnings.simplefilter("ignore")
    scores = {}
    for name, share in RELATED.items():
        companions.RELATED_SHARE = share
        scores[name] = odefs.detect(table.frame, random_state=0, n_jobs=1).scores
    X = np.nan_to_num(np.asarray(odefs.TableEncoder().fit_transform(table.frame), dtype=float))
    scores["LeSiNN"] = odefs.LeSiNN(random_state=0, n_jobs=1).fit(X).outlier_scores_
    scores["IsolationForest"] = -IsolationForest(random_state=0).fit(X).score_samples(X)
    for detector in (ECOD(), HBOS(), INNE(random_state=0), KNN()):
        scores[f"PyOD {type(detector).__name__}"] = detector.fit(X).decision_scores_
    codes = table_codes(columns_of(table.frame))
    scores |= {name: baseline(codes) for name, baseline in BASELINES.items()}
    found = {name: evaluate(table.y, np.asarray(values)) for name, values in scores.items()}
    return {name: np.array([one["auc"], one["ap"], one["p@k"]]) for name, one in found.items()}
