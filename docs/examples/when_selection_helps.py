"""
When selection helps and when it does not
=========================================

The library learns which columns set the most suspicious rows apart. That helps where most columns are noise **and** the most suspicious rows are
mostly real outliers. Where they are ordinary rows, learning from them repeats the mistake. ``trust_`` says how far a model relied on what it learned.
"""

# %%
# Five tables
# -----------
#
# Three methods: the bare detector on all columns (:class:`odefs.LeSiNN`), the default (:class:`odefs.ODEFS`), and the default told to trust what it learned
# fully (``trust=1``), which is what the paper does.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score

from odefs import ODEFS, LeSiNN


def planted(n_noise, seed):
    """20 of 800 rows are odd in four columns, the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(800, 4 + n_noise))
    X[:20, :4] += 4
    return X, np.arange(800) < 20


def hidden_class(data, odd, n_noise, seed):
    """20 rows of one class among all of the others, beside columns of noise."""
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
    "all columns": lambda seed: LeSiNN(random_state=seed),
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
# What came out
# -------------

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

print("AUC above that of all columns:")
for k, name in enumerate(tables):
    gain = auc["trust=1"][k] - auc["all columns"][k]
    got = auc["ODEFS()"][k] - auc["all columns"][k]
    print(
        f"{' '.join(name.split()):26s} trust=1 {gain:+.3f}  ODEFS() {got:+.3f}"
    )

# %%
# How to read it
# --------------
#
# - Where the third bar exceeds the first, learned columns help. Where it falls short, they hurt.
# - ``ODEFS()`` decides without labels. It trusts learned columns no further than its measurements support, and is cautious: where ``trust_`` is 0, the score
#   comes from all columns, and a gain may be given away rather than a loss risked.
# - Both forms of ODEFS take columns that are related to no other and have no far values for noise, and count them a tenth (``noise_columns_``); that needs no
#   candidates, but 400 rows at least, which the tumours do not have. The many columns of the second table go this way, before anything is learned.
# - If you know that few of many columns matter and that outliers are plain, say so: ``ODEFS(trust=1)``. If you know nothing, leave it.
#
# The measurements
# ----------------
#
# **Contrast.** Noise squeezes all distances together. A subset without noise spreads the scores further, relative to their mean. Any small subset does so to some
# degree; what counts is the gain over random subsets of the same sizes.
#
# **Stability.** The table is scored by two halves of the references. Where the halves name different rows as suspicious, the candidates are luck, and so is
# what is learned from them.
#
# **Tail.** Where a few outliers hide among many columns alike, the contrast of all rows hardly changes. What counts then is how much further the foremost
# hundredth of the rows stands from the rest than on all columns.

X, y = hidden_class(tumours, 0, 300, 0)
print(ODEFS(random_state=0).fit(X).fit_info_["trust"]["message"])
X, y = hidden_class(digits, 4, 0, 0)
print(ODEFS(random_state=0).fit(X).fit_info_["trust"]["message"])

# %%
# Are the candidates outliers?
# ----------------------------
#
# That is what decides. With labels one can look; without them, nobody can, and Theorem 1 of the paper does not promise it (see :doc:`/paper`).

for name, make in tables.items():
    X, y = make(0)
    rows = ODEFS(random_state=0).fit(X).candidate_indices_
    name = " ".join(name.split())
    print(f"{name:26s} {y[rows].sum()} of {rows.size} candidates are outliers")
