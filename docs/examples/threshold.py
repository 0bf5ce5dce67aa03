"""
Choosing a threshold
====================

Scores rank rows. Where to draw the line depends on your time and costs, not on the scores.
This page shows the options and what each one guarantees.
"""

# %%
# Scores
# ------

import matplotlib.pyplot as plt
import numpy as np

import odefs
from odefs import ODEFS

rng = np.random.default_rng(1)
X = rng.normal(size=(3000, 30))
y = np.zeros(3000, dtype=bool)
y[:45] = True
X[y, 3:6] += rng.uniform(1.5, 5, size=(45, 1))  # some plainly odd, some barely

model = ODEFS(random_state=0).fit(X)
scores = model.outlier_scores_
ranked = np.sort(scores)[::-1]

# %%
# Look first
# ----------
#
# The curve of sorted scores often has a bend: rows before it are unlike the rest, rows after
# it gradually become ordinary. Without a bend, any threshold is arbitrary.

fig, ax = plt.subplots(figsize=(7, 3.2))
ax.plot(np.arange(1, 301), ranked[:300], lw=2)
ax.axhline(-model.offset_, color="k", ls="--", lw=1)
ax.annotate("default threshold", (300, -model.offset_), ha="right", va="bottom")
ax.set(xlabel="rank", ylabel="score", title="The 300 highest scores")
fig.tight_layout()

# %%
# Options
# -------
#
# ==============================  ==========================  ==============================
# option                          you choose                  suits
# ==============================  ==========================  ==============================
# the default                     nothing                     a first look
# ``max_false_flags=20``          flags without outliers      a look at more rows
# ``contamination=0.01``          the share of rows to flag   a fixed number of checks a day
# ``detect(..., flag=20)``        the number of rows to flag  the same, for one table
# ``detect(..., threshold=1.5)``  the score                   tables that arrive regularly
# ``contamination="paper"``       nothing: mean + 2 std       the paper's experiments
# ==============================  ==========================  ==============================
#
# The default models the bulk of the scores, and flags rows that it does not explain: about
# ``max_false_flags=1`` row in a table without outliers, whatever its size. Flagged rows are clear
# cases, and some outliers score like ordinary rows. The mean + 2 std of the paper always flags
# some percent of the rows.

clean = rng.normal(size=(3000, 30))
for name, rule in {
    "the default": {},
    "max_false_flags=20": {"max_false_flags": 20},
    "contamination=0.01": {"contamination": 0.01},
    'contamination="paper"': {"contamination": "paper"},
}.items():
    flags, without = (
        ODEFS(**rule, random_state=0).fit(rows).is_outlier_
        for rows in (X, clean)
    )
    print(
        f"{name}: {flags.sum()} flagged, {y[flags].sum()} of them planted; ",
        end="",
    )
    print(f"{without.sum()} without outliers")

# %%
# With some labels
# ----------------
#
# If you can check rows, check the highest scores and count the hits. The curves below use all
# labels; in practice a few dozen checked rows show where checking stops being worthwhile.

order = np.argsort(-scores)
hits = np.cumsum(y[order])
looked = np.arange(1, len(X) + 1)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
left.plot(
    looked[:200],
    hits[:200] / looked[:200],
    label="share that is odd (precision)",
)
left.plot(
    looked[:200],
    hits[:200] / y.sum(),
    label="share of the odd ones found (recall)",
)
left.axvline(model.is_outlier_.sum(), color="k", ls="--", lw=1)
left.set(xlabel="rows checked, from the top", ylim=(0, 1.02))
left.legend(fontsize=8)

# Checking a row costs 1, missing an odd one costs 20.
cost = looked + 20 * (y.sum() - hits)
right.plot(looked[:400], cost[:400], color="C2")
best = int(looked[cost.argmin()])
right.axvline(best, color="C2", ls=":")
right.set(
    xlabel="rows checked, from the top",
    ylabel="cost",
    title=f"lowest cost: check {best} rows",
)
fig.tight_layout()

# %%
# With clean rows
# ---------------
#
# With clean rows that the model has not seen, a score becomes a p-value: the share of clean rows
# that score as high. ``predict`` of the calibration flags rows so that at most a tenth of the
# flagged ones are expected to be clean. ``odefs score MODEL new.csv --reference clean.csv`` does
# the same.

calibration = odefs.calibrate(
    ODEFS(random_state=0).fit(clean[:1500]), clean[1500:]
)
found = calibration.predict(X) == -1
print(f"{found.sum()} flagged, {y[found].sum()} of them planted")

# %%
# Monitoring
# ----------
#
# Scores of a model do not depend on the batch: 1.5 means the same tomorrow. So fix the
# threshold once, monitor the share of rows above it, and investigate when it changes.
# ``odefs score MODEL new.csv --max-flagged 2x`` exits with code 3 if more than twice the share in
# training is flagged.

new = rng.normal(size=(2000, 30))
column = np.arange(30)
for name, batch in (
    ("like training", new),
    ("column 4 drifted by 3", new + 3.0 * (column == 4)),
    ("column 7 drifted by 3", new + 3.0 * (column == 7)),
    ("column 7 drifted by 6", new + 6.0 * (column == 7)),
):
    print(f"{name}: {np.mean(model.predict(batch) == -1):.1%} flagged")
print("column 7 is treated as noise:", 7 in model.noise_columns_)

# %%
# Column 7 is treated as noise: it counts little within its training range, and in full beyond
# it. Still, it is one of 30 columns: a drift of 3 hardly changes the share of flagged rows, and
# even one of 6 leaves most rows unflagged. ``odefs score`` and ``odefs check`` therefore compare
# each column with training: values outside the training range, shifted values, new categories and
# missing values.
