"""A user's script in which each marked line has one mistake, and no other line has one."""

import numpy as np

import odefs
from odefs import ODEFS, FeatureSelection, LeSiNN, ODEFSSelector, TableEncoder

X = np.random.default_rng(0).normal(size=(300, 8))

# Words that do not exist
ODEFS(detector="lesin")  # argument
ODEFS(n_estimators="automatic")  # argument
ODEFS(scaling="standard")  # argument
ODEFS(noise_columns="drop")  # argument
ODEFS(trust="full")  # argument
ODEFS(missing="drop")  # argument
ODEFS(contamination="legacy")  # argument
FeatureSelection(loss="log")  # argument
FeatureSelection(solver="sgd")  # argument
FeatureSelection(self_paced="never")  # argument
FeatureSelection(column_weights="none")  # argument
FeatureSelection(reference_rows="own")  # argument
LeSiNN(metric="cosine")  # argument
ODEFSSelector(keep="some")  # argument

# Names that do not exist
ODEFS(randomstate=0)  # call
LeSiNN(n_estimators=10)  # call
TableEncoder(numbers=["price"])  # call
odefs.detect(X, contaminaton=0.1)  # call
odefs.detect(X, columns=["x0"])  # call
ODEFS().fit(X, known=[3])  # call

# Values of other types
ODEFS(n_jobs="2")  # argument
ODEFS(selection="paper")  # argument
TableEncoder(max_categories="50")  # argument
odefs.detect(X, by=3)  # argument
odefs.detect(X, flag="10")  # argument
odefs.detect(X, model="lesinn")  # argument

model = ODEFS().fit(X)
found = odefs.detect(X)
model.explain(X, top="3")  # argument
model.save(5)  # argument
found.top("5")  # argument
found.save_report(5)  # argument

# Attributes that do not exist
print(found.outliers)  # attribute
found.report().write("page.html")  # attribute
odefs.detect_outliers(X)  # attribute
print(found.reasons([0])[0][0].name)  # attribute
# mypy knows no types of scikit-learn, and so accepts any attribute of its estimators.
print(model.scores_)  # attribute (pyright)
print(model.importances_)  # attribute (pyright)

# Results taken for something else
everything: odefs.Explanation = model.explain(X, top=3)  # assignment
first: odefs.TopExplanation = model.explain(X)  # assignment
labels: list[int] = model.predict(X)  # assignment
path: str = found.save_report("page.html")  # assignment
