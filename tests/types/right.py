"""A user's script without mistakes; test_user_scripts.py checks its types, nothing runs it."""

from pathlib import Path

import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline

import odefs
from odefs import ODEFS, FeatureSelection, LeSiNN, ODEFSSelector, TableEncoder

X = np.random.default_rng(0).normal(size=(300, 8))
model = ODEFS(
    detector="lesinn",
    n_estimators="paper",
    scaling="minmax",
    noise_columns="keep",
    trust=0.5,
    missing="ignore",
    contamination=0.05,
    engine="torch:cuda:1",
    n_jobs=2,
    random_state=0,
    verbose=1,
    selection=FeatureSelection(loss="hinge", solver="lbfgs", l1=1e-3, self_paced="classic"),
).fit(X, known_outliers=[3, 17])
scores: np.ndarray = model.outlier_scores(X)
labels: np.ndarray = model.predict(X)
flagged: np.ndarray = model.is_outlier_
trust: float = model.trust_
importances: np.ndarray = model.feature_importances_
threshold: float = -model.offset_
everything: odefs.Explanation = model.explain(X)
first: odefs.TopExplanation = model.explain(X, top=3)
column: str = everything.reasons(0)[0][0].column
values: np.ndarray = np.asarray(everything)
model.save(Path("model.odefs"))
paper: ODEFS = ODEFS.paper(random_state=0, selection__l1=1e-3)
plain: np.ndarray = LeSiNN(metric="sqeuclidean", scaling="robust").fit(X).outlier_scores_
columns = ODEFSSelector(keep="any").fit(X).get_feature_names_out()

frame = pl.DataFrame({"shop": ["a", "b"] * 50, "price": [float(k) for k in range(100)]})
found: odefs.Detection = odefs.detect(
    frame, by="shop", flag=3, hide=["price"], encoder=None, model=ODEFS(scaling="none")
)
reasons: list[list[odefs.Reason]] = found.reasons([0, 1])
checks: list[odefs.ValueCheck] = found.checks
linked: odefs.Detection = found.save_report("page.html", force=True)
report: odefs.Report = found.report()
written: Path = report.save("other.html")
learned: odefs.Detection = found.with_answers(found.review())
best = found.top(3)
new: np.ndarray = found.score(frame)
found.save("model.odefs")
pipeline = make_pipeline(TableEncoder(number=["price"], max_categories=10), ODEFS(scaling="none"))
clean: odefs.Calibration = odefs.calibrate(model, X)
review = odefs.Review(model, X)
review.tell(review.next(2), [True, False])
