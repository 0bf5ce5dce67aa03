# Cells of the notebook that test_notebook.py runs, each under its name.
# %% detection
import numpy as np
import polars as pl

import odefs
from odefs.datasets.transactions import transactions_path

table = pl.read_csv(transactions_path(), try_parse_dates=True)
found = odefs.detect(table, id="transaction")
found  # noqa: B018

# %% page
found.save_report("the outliers.html")

# %% explanation
found.explain(["T0422", "T0737"])

# %% frame
found.top(3)

# %% plot
found.plot_scores()

# %% model
X = np.random.default_rng(0).normal(size=(600, 20))
X[:12, 4] += 7
odefs.ODEFS(random_state=0).fit(X)

# %% all columns
odefs.LeSiNN(random_state=0).fit(X)

# %% bar
odefs.ODEFS(random_state=0, verbose=1).fit(X).predict(X[:3])

# %% bar and log
odefs.ODEFS(random_state=0, verbose=2).fit(X).predict(X[:3])

# %% report
found.report()
