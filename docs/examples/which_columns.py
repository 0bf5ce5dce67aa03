"""
Which columns explain an outlier
================================

Medical measurements with real column names: 30 numbers for each of 357 benign breast tumours
and 20 malignant ones hidden among them (the Wisconsin data included in scikit-learn). The
model gets no labels. Which rows does it find, and which columns does it report?
"""

# %%
# The table, and noise
# --------------------
#
# To make it harder, 60 columns of pure noise are added to the 30 real ones.

import os

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from odefs import ODEFS

data = load_breast_cancer()
rng = np.random.default_rng(0)
malignant = rng.choice(np.flatnonzero(data.target == 0), size=20, replace=False)
rows = np.concatenate([malignant, np.flatnonzero(data.target == 1)])
noise = rng.normal(size=(rows.size, 60))
X = np.hstack([data.data[rows], noise])
y = np.arange(rows.size) < malignant.size
names = np.array([*data.feature_names, *(f"noise {k}" for k in range(60))])
frame = pl.DataFrame(X, schema=names.tolist())  # the names go with the columns

model = ODEFS(random_state=0).fit(frame)
print(
    f"AUC {roc_auc_score(y, model.outlier_scores_):.3f}, trust {model.trust_:.2f}"
)

# %%
# Important columns
# -----------------
#
# ``feature_importances_`` add up to 1. A third of the columns are real; their share of the
# importance shows whether the noise was left out.

order = np.argsort(-model.feature_importances_)[:15]
fig, ax = plt.subplots(figsize=(7, 4))
colours = ["0.7" if k >= 30 else "C0" for k in order]
ax.barh(
    names[order][::-1],
    model.feature_importances_[order][::-1],
    color=colours[::-1],
)
ax.set(xlabel="importance", title="The 15 most important columns (grey: noise)")
fig.tight_layout()
real = model.feature_importances_[:30].sum()
print(f"share of the real columns: {real:.0%}; by chance it would be 33%")

# %%
# Row by row
# ----------
#
# ``explain`` splits each score into contributions of the columns. A column is a reason for a row
# to the extent that its contribution exceeds the usual one: noise contributes to every row and
# explains none.

explanation = model.explain(frame)
assert np.allclose(np.asarray(explanation).sum(axis=1), model.outlier_scores_)
top = np.argsort(-model.outlier_scores_)[:12]
shown = np.argsort(-explanation.excess[top].mean(axis=0))[:14]

fig, ax = plt.subplots(figsize=(8, 4.6))
picture = ax.imshow(
    explanation.excess[np.ix_(top, shown)],
    cmap="RdBu_r",
    vmin=-0.15,
    vmax=0.15,
    aspect="auto",
)
ax.set_xticks(
    range(shown.size), names[shown], rotation=60, ha="right", fontsize=8
)
ax.set_yticks(
    range(top.size),
    [
        f"{'malignant' if y[row] else 'benign'}, {model.outlier_scores_[row]:.2f}"
        for row in top
    ],
    fontsize=8,
)
ax.set_title("The twelve highest scores: contributions above the usual ones")
fig.colorbar(picture, ax=ax, label="excess")
fig.tight_layout()

# %%
# In words, for the first three:

for row in top[:3]:
    kind = "malignant" if y[row] else "benign"
    print(f"{kind}, score {model.outlier_scores_[row]:.2f}")
    for reason in explanation.reasons(row)[0]:
        usual = np.median(frame[reason.column])
        print(f"    {reason.column} = {reason.value:.3g}, usually {usual:.3g}")

# %%
# A benign tumour among the highest scores is not a mistake: it is unusual, and the reasons show
# how. Whether an unusual row is a bad one cannot be answered without labels.

# %%
# One of the paper's datasets
# ---------------------------
#
# If ``ODEFS_DATA`` names the folder with the datasets: 3,279 images on web pages, described by
# 1,555 words around them; 459 are advertisements.

if "ODEFS_DATA" in os.environ:
    from odefs.datasets.store import load

    pages = load("advertisements")
    model = ODEFS(random_state=0).fit(pages.X)
    top = np.argsort(-model.feature_importances_)[:5]
    auc = roc_auc_score(pages.y, model.outlier_scores_)
    print(f"AUC {auc:.3f}, trust {model.trust_:.2f}")
    for k in top:
        print(f"{model.feature_importances_[k]:.3f}  {pages.feature_names[k]}")
else:
    print("ODEFS_DATA is not set: see the page of results for this dataset.")
