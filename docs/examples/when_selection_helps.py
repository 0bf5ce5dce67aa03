"""
When selection helps and when it does not
=========================================

odefs learns which columns separate the most suspicious rows from the rest. This helps if most
columns are noise **and** the most suspicious rows are mostly real outliers. If they are
ordinary rows, learning from them repeats the mistake. ``trust_`` is the weight that a model
gives to what it learned.
"""

# %%
# Five tables
# -----------
#
# Three methods: :class:`odefs.ODEFS` on all columns (``trust=0``), the default, and full trust in
# the learned columns (``trust=1``), as in the paper.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score

from odefs import ODEFS


def planted(n_noise, seed):
    """20 of 800 rows are unusual in four columns; the other columns are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(800, 4 + n_noise))
    X[:20, :4] += 4
    return X, np.arange(800) < 20


def hidden_class(data, odd, n_noise, seed):
    """20 rows of one class among all others, with added noise columns."""
    rng = np.random.default_rng(seed)
    few = rng.choice(np.flatnonzero(data.target == odd), size=20, replace=False)
    rows = np.concatenate([few, np.flatnonzero(data.target != odd)])
    noise = rng.normal(size=(rows.size, n_noise)) * data.data.std()
    return np.hstack([data.data[rows], noise]), np.arange(rows.size) < 20


tumours, digits = load_breast_cancer(), load_digits()
tables = {
    "4 columns of 24\nplanted": lambda seed: planted(20, seed),
    "4 columns of 404\nplanted": lambda seed: planted(400, seed),
    "tumours\n30 columns": lambda seed: hidden_class(tumours, 0, 0, seed),
    "tumours\n30 of 330 columns": lambda seed: hidden_class(
        tumours, 0, 300, seed
    ),
    "digits\n64 columns": lambda seed: hidden_class(digits, 4, 0, seed),
}
methods = {
    "trust=0": lambda seed: ODEFS(trust=0.0, random_state=seed),
    "ODEFS()": lambda seed: ODEFS(random_state=seed),
    "trust=1": lambda seed: ODEFS(trust=1.0, random_state=seed),
}

auc, trust = {name: [] for name in methods}, []
for make in tables.values():
    trusts = []
    found = {name: [] for name in methods}
    for seed in range(3):
        X, y = make(seed)
        for name, method in methods.items():
            model = method(seed).fit(X)
            found[name].append(roc_auc_score(y, model.outlier_scores_))
            if name == "ODEFS()":
                trusts.append(model.trust_)
    trust.append(np.mean(trusts))
    for name, values in found.items():
        auc[name].append(np.mean(values))

# %%
# Results
# -------

place = np.arange(len(tables))
fig, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5.4), sharex=True, height_ratios=[3, 1]
)
for shift, (name, values) in zip((-0.27, 0, 0.27), auc.items(), strict=True):
    bars = above.bar(place + shift, values, width=0.25, label=name)
    above.bar_label(bars, fmt="%.2f", fontsize=7)
above.set(ylabel="AUC (mean of 3 seeds)", ylim=(0.5, 1.12))
above.legend(ncols=3, loc="upper center", fontsize=8)
below.bar(place, trust, width=0.4, color="0.4")
below.set(ylabel="trust_", ylim=(0, 1))
below.set_xticks(place, tables, fontsize=8)
fig.tight_layout()

print("AUC gained over all columns:")
for k, name in enumerate(tables):
    gain = auc["trust=1"][k] - auc["trust=0"][k]
    got = auc["ODEFS()"][k] - auc["trust=0"][k]
    print(
        f"{' '.join(name.split()):26s} trust=1 {gain:+.3f}  ODEFS() {got:+.3f}"
    )

# %%
# Interpretation
# --------------
#
# - If the third bar is higher than the first, learned columns help, as among the 300 noise
#   columns added to the tumours; if it is lower, they hurt, as on the digits.
# - ``ODEFS()`` decides without labels and is cautious: it forgoes a gain rather than risk a
#   loss. Here ``trust_`` is 0 for all tables, so the score comes from all columns. It differs
#   from the first bar because it averages over more references.
# - All three treat columns that are unrelated to every other column and have no extreme values
#   as noise and down-weight them to 10 % (``noise_columns_``). This needs no candidates, but at
#   least 250 rows. In the planted tables, noise columns are handled this way before anything
#   is learned.
# - If you know that few of many columns matter and that outliers are obvious, use
#   ``ODEFS(trust=1)``. Otherwise keep the default.
#
# The measurements
# ----------------
#
# **Contrast.** Noise makes all distances similar. On a subset without noise, scores vary more
# relative to their mean. Any small subset has this effect to some degree; what matters is the
# gain over random subsets of the same sizes.
#
# **Stability.** The table is scored with two halves of the references. If the halves find
# different suspicious rows, the candidates are random, and so is what is learned from them.
#
# **Tail.** If a few outliers hide among many similar columns, the contrast of all rows hardly
# changes. What matters then is how much further the top-ranked percent of the rows is from the
# rest than on all columns.

X, y = hidden_class(tumours, 0, 300, 0)
print(ODEFS(random_state=0).fit(X).fit_info_["trust"]["message"])
X, y = hidden_class(digits, 4, 0, 0)
print(ODEFS(random_state=0).fit(X).fit_info_["trust"]["message"])

# %%
# Are the candidates outliers?
# ----------------------------
#
# This is what decides. It can be checked only with labels, and Theorem 1 of the paper does not
# guarantee it (see :doc:`/reference/paper`).

for name, make in tables.items():
    X, y = make(0)
    rows = ODEFS(random_state=0).fit(X).candidate_indices_
    name = " ".join(name.split())
    print(f"{name:26s} {y[rows].sum()} of {rows.size} candidates are outliers")
