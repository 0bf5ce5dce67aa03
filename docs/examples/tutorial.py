"""
Ten minutes
===========

From a table to its outliers, the columns that explain them, and a model for new rows. All
code on this page runs after ``pip install "odefs[cli,report]" matplotlib``.
"""

# %%
# A table
# -------
#
# The bundled example has 800 card transactions, 24 of which were made unusual: eight by the
# amount, eight by the place, and eight by many items in a short time. Most other columns are
# irrelevant.

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
# :func:`odefs.detect` takes a polars, pandas or pyarrow table with columns of any kind:
# numbers, categories, dates and missing values. The ``id`` column names the rows and is not
# used for the scores.

found = odefs.detect(frame, id="transaction")
print(found)
print("left out:", {column: str(why) for column, why in found.left_out.items()})

# %%
# Every row has a score. **The average is 1.0**, and high scores are abnormal. Rows are flagged
# that score higher than the bulk of the rows explains; in a table without outliers, this is about
# one row. You can change the threshold: see :ref:`sphx_glr_gallery_threshold.py`.

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
# The reasons of a row are the columns that contribute more to its score than usual.

for row, reasons in zip(
    found.order[:6], found.reasons(found.order[:6]), strict=True
):
    why = ", ".join(f"{reason.column} = {reason.value}" for reason in reasons)
    print(f"{found.row_names[row]}  {found.scores[row]:.2f}  {why}")

# %%
# The columns that separate outliers from the rest in the whole table:

names, shares = zip(*found.importances[:8], strict=True)
fig, ax = plt.subplots(figsize=(7, 2.6))
ax.barh(names[::-1], shares[::-1], color="C0")
ax.set(xlabel="importance")
fig.tight_layout()

# %%
# Was it right?
# -------------
#
# Usually you cannot tell. Here you can, because the unusual rows were planted.

truth = pl.read_csv(truth_path())
planted = set(truth[truth.columns[0]])
odd = np.array([name in planted for name in found.row_names])
print(f"{(odd & flagged).sum()} of {odd.sum()} planted rows are flagged")
print(f"other flagged rows: {(flagged & ~odd).sum()}")

# %%
# A report for others
# -------------------
#
# ``found.report().save("report.html")`` writes one self-contained file with kinds of outliers, a
# movable threshold, and rows with their reasons. The same as text:

print(found.report().markdown()[:900], "...")

# %%
# Arrays and pipelines
# --------------------
#
# For numeric data, :class:`odefs.ODEFS` is a scikit-learn estimator. Here, twenty rows are
# unusual in one of fifty columns:

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
# ``trust_`` is the weight of the learned columns in the score, as opposed to all columns; the
# message gives the reason. See :ref:`sphx_glr_gallery_when_selection_helps.py`.

print(model.trust_, "-", model.fit_info_["trust"]["message"])

# %%
# New rows
# --------
#
# The score of a new row does not depend on the rest of its batch. Model files contain arrays
# and JSON, not pickle, and give the same scores bit for bit. They also contain rows of the
# training table: treat them as confidential as the table.

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
# Next: :doc:`the guides </tutorials/index>`, :doc:`the command line </reference/command-line>`,
# :doc:`the Python API </reference/api/index>`.
