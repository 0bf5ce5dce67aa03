"""
Ten minutes
===========

From a table to the rows that stand out, the columns that gave them away, and a model for tomorrow's rows. Everything here runs as it is after
``pip install "odefs[cli,report]"``.
"""

# %%
# A table
# -------
#
# The bundled example holds 800 card transactions. 24 of them were made odd: eight by their amount, eight by the place, eight by many items in a
# short time. The other columns say nothing.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import odefs
from odefs.datasets.transactions import transactions_path, truth_path

frame = pl.read_csv(transactions_path())
frame.head(5)

# %%
# Which rows stand out
# --------------------
#
# :func:`odefs.detect` takes a data frame of polars, pandas or pyarrow with columns of any kind. Numbers, categories, dates and blanks are
# recognised; ``id`` names the rows and is not looked at.

found = odefs.detect(frame, id="transaction")
print(found)
print("left out:", found.left_out)

# %%
# Every row has a score. **1.0 is an ordinary row**; high is abnormal. The flag is a convention (mean + 2 standard deviations) that you may move:
# see :ref:`sphx_glr_gallery_threshold.py`.

flagged = found.is_outlier
fig, ax = plt.subplots(figsize=(7, 3))
bins = np.linspace(found.scores.min(), found.scores.max(), 60)
ax.hist(found.scores[~flagged], bins, color="0.7", label="ordinary")
ax.hist(found.scores[flagged], bins, color="C3", label="flagged")
ax.axvline(found.threshold, color="k", lw=1, ls="--")
ax.set(
    xlabel="score",
    ylabel="rows (log scale)",
    yscale="log",
    title=f"{flagged.sum()} rows score above {found.threshold:.2f}",
)
ax.legend()
fig.tight_layout()

# %%
# Why
# ---
#
# The reasons of a row are the columns whose part of its score exceeds what they usually contribute.

for row, reasons in zip(
    found.order[:6], found.reasons(found.order[:6]), strict=True
):
    why = ", ".join(f"{reason.column} = {reason.value}" for reason in reasons)
    print(f"{found.row_names[row]}  {found.scores[row]:.2f}  {why}")

# %%
# And the columns that set outliers apart as a whole:

names, shares = zip(*found.importances[:8], strict=True)
fig, ax = plt.subplots(figsize=(7, 2.6))
ax.barh(names[::-1], shares[::-1], color="C0")
ax.set(xlabel="share of what sets suspicious rows apart")
fig.tight_layout()

# %%
# Was it right?
# -------------
#
# Usually nobody knows. Here we do, because the odd rows were planted.

truth = pl.read_csv(truth_path())
planted = set(truth[truth.columns[0]])
odd = np.array([name in planted for name in found.row_names])
print(f"{(odd & flagged).sum()} of {odd.sum()} planted rows are flagged,")
print(f"and {(flagged & ~odd).sum()} others")

# %%
# A page to send on
# -----------------
#
# ``found.report().save("page.html")`` writes one file without links to anywhere: kinds of outliers, a movable threshold, every row with its reasons. The
# same as text:

print(found.report().markdown()[:900], "...")

# %%
# Arrays and pipelines
# --------------------
#
# With numbers only, :class:`odefs.ODEFS` is a scikit-learn estimator. Twenty rows are odd in one of fifty columns:

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 50))
X[:20, 4] += 8

model = odefs.ODEFS(random_state=0).fit(X)
print(
    "flagged:",
    model.is_outlier_.sum(),
    "most important column:",
    model.feature_importances_.argmax(),
)
print(model.explain(X[:1]).reasons(0)[0][0])

# %%
# How far it relied on the columns that it learned, and how far on all of them, is in ``trust_``; the sentence says why. See
# :ref:`sphx_glr_gallery_when_selection_helps.py`.

print(model.trust_, "-", model.fit_info_["trust"]["message"])

# %%
# Tomorrow's rows
# ---------------
#
# A fitted model scores new rows one by one: a row's score does not depend on what else is in the batch. Files hold arrays and JSON, no pickle, and give
# the same scores to the last bit. They also hold some rows of the training table: share them as you would share the table.

import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

path = Path(tempfile.mkdtemp()) / "model.odefs"
found.save(path)
again = odefs.load(path)
new = frame.drop("transaction").head(3)
print(again.predict(new), again.score_samples(new))

# %%
# The same from the command line
# ------------------------------
#
# .. code-block:: sh
#
#    odefs detect transactions.csv --id transaction --save model.odefs
#    odefs score model.odefs new.csv -o scores.csv
#
# From here: :doc:`the command line </command-line>`, :doc:`a guide for what you do </guides/index>`, :doc:`all names </api/index>`.
