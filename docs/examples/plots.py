"""
Plots of a detection
====================

The bundled example has 800 card transactions. ``odefs.detect`` finds those that stand out, and the
methods ``plot_*`` of the result draw it. Each returns a display as in scikit-learn: an object
with the drawn data. ``ax=`` chooses the axes; the classes are in ``odefs.plots``.
"""

# %%
# Scores
# ------
#
# Most rows score about 1. The dashed line is the threshold above which rows are flagged.

import numpy as np
import polars as pl

import odefs
from odefs import ODEFS, plots
from odefs.datasets.transactions import transactions_path

found = odefs.detect(
    pl.read_csv(transactions_path(), try_parse_dates=True), id="transaction"
)
found.plot_scores()
found.top(5)

# %%
# Why the first row stands out
# ----------------------------
#
# Contributions of its columns to its score, above the usual ones, and its values next to the
# middle half of all rows.

found.plot_reasons()

# %%

found.plot_row()

# %%
# Which columns give rows away
# ----------------------------
#
# Bars show the share of each column in the scores of flagged rows, points the share of the model's
# components that selected the column.

found.plot_importances()

# %%
# A map of the rows
# -----------------
#
# Two principal components of the columns that matter.

found.plot_map()

# %%
# Without a table
# ---------------
#
# The classes of ``odefs.plots`` take estimators and arrays as well, apart from the map, which needs
# a detection.

X = np.random.default_rng(0).normal(size=(1000, 20))
X[:10, 3] += 9
model = ODEFS(random_state=0).fit(X)
plots.ReasonsDisplay.from_estimator(model, X, row=0)
