"""
Comparison with other detectors
===============================

The same tables, the same seeds, and each detector with its own defaults. Four small tables
are not a benchmark: they show how to compare detectors, and that none is best everywhere.
:doc:`/explanation/peers` describes the strengths of each, and :doc:`/explanation/results`
uses the paper's datasets.
"""

# %%
# Tables
# ------

import time

import matplotlib.pyplot as plt
import numpy as np
from pyod.models.ecod import ECOD
from pyod.models.hbos import HBOS
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import MinMaxScaler

from odefs import ODEFS, LeSiNN


def hidden_class(data, odd, n_noise=0, seed=0):
    """Ten rows of one class among all others, and noise; scaled to [0, 1]."""
    rng = np.random.default_rng(seed)
    few = rng.choice(np.flatnonzero(data.target == odd), size=10, replace=False)
    rows = np.concatenate([few, np.flatnonzero(data.target != odd)])
    X = np.hstack([data.data[rows], rng.normal(size=(rows.size, n_noise))])
    return MinMaxScaler().fit_transform(X), np.arange(rows.size) < 10


tumours, wine, digits = load_breast_cancer(), load_wine(), load_digits()
tables = {
    "tumours": lambda seed: hidden_class(tumours, 0, seed=seed),
    "tumours + 300 noise": lambda seed: hidden_class(tumours, 0, 300, seed),
    "wine": lambda seed: hidden_class(wine, 2, seed=seed),
    "digits": lambda seed: hidden_class(digits, 4, seed=seed),
}

# %%
# Detectors
# ---------

detectors = {
    "ODEFS": lambda X, seed: ODEFS(random_state=seed).fit(X).outlier_scores_,
    "ODEFS(trust=1)": lambda X, seed: (
        ODEFS(trust=1.0, random_state=seed).fit(X).outlier_scores_
    ),
    "LeSiNN": lambda X, seed: LeSiNN(random_state=seed).fit(X).outlier_scores_,
    "IsolationForest": lambda X, seed: (
        -IsolationForest(random_state=seed).fit(X).score_samples(X)
    ),
    "LOF": lambda X, seed: (
        -LocalOutlierFactor().fit(X).negative_outlier_factor_
    ),
    "ECOD (PyOD)": lambda X, seed: ECOD().fit(X).decision_scores_,
    "HBOS (PyOD)": lambda X, seed: HBOS().fit(X).decision_scores_,
}

SEEDS = 3
auc, seconds = (
    np.zeros((len(detectors), len(tables))),
    np.zeros((len(detectors), len(tables))),
)
for j, make in enumerate(tables.values()):
    for seed in range(SEEDS):
        X, y = make(seed)
        for i, score in enumerate(detectors.values()):
            start = time.perf_counter()
            auc[i, j] += roc_auc_score(y, score(X, seed)) / SEEDS
            seconds[i, j] += (time.perf_counter() - start) / SEEDS

# %%
# AUC
# ---

fig, ax = plt.subplots(figsize=(7, 4))
ax.imshow(auc, cmap="YlGnBu", vmin=0.5, vmax=1, aspect="auto")
ax.set_xticks(range(len(tables)), tables)
ax.set_yticks(range(len(detectors)), detectors)
for i, j in np.ndindex(auc.shape):
    best = auc[i, j] == auc[:, j].max()
    ax.text(
        j,
        i,
        f"{auc[i, j]:.2f}",
        ha="center",
        va="center",
        weight="bold" if best else "normal",
        color="w" if auc[i, j] > 0.8 else "k",
    )
ax.set_title("AUC, mean of 3 seeds; bold: the highest of its column")
fig.tight_layout()

# %%
# Time
# ----
#
# On tables this small all detectors are fast, and the first call of each includes loading
# its libraries. :doc:`/explanation/performance` measures large tables.

fig, ax = plt.subplots(figsize=(7, 3))
ax.barh(
    list(detectors)[::-1], 1000 * np.median(seconds, axis=1)[::-1], color="0.6"
)
ax.set(xlabel="milliseconds to fit and score, median of the tables")
fig.tight_layout()
