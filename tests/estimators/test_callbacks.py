"""Progress through scikit-learn callbacks: a valid tree of tasks and the same fit.

Older scikit-learn versions have no callbacks.
"""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from odefs import ODEFS, FeatureSelection, LeSiNN, ODEFSSelector
from odefs._progress import listening
from odefs.baselines import RandFS
from odefs.estimators.callbacks import AVAILABLE, MOST_PARTS, _Tasks

with_callbacks_only = pytest.mark.skipif(
    not AVAILABLE, reason="this version of scikit-learn has no callbacks"
)


def test_callbacks_are_there_from_their_first_version_on():
    assert (parse_version(sklearn.__version__) >= parse_version("1.9")) == AVAILABLE
    assert hasattr(ODEFS(), "set_callbacks") == AVAILABLE


class Recorder:
    """Records its calls. ``max_propagation_depth`` passes it on to the steps of a pipeline."""

    max_propagation_depth = None

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append(("setup", context))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(("end", context))
        self.fitted = fitted_estimator

    def names(self):
        return [context.task_name for what, context in self.calls if what == "begin"]


def assert_well_formed(recorder):
    """Tasks begin and end once, inside the task that they are part of."""
    whats = [what for what, _ in recorder.calls]
    assert whats[0] == "setup"
    assert whats[-1] == "teardown"
    assert whats.count("setup") == whats.count("teardown") == 1
    going_on = []
    for what, context in recorder.calls[1:-1]:
        if what == "begin":
            assert context.parent is None or context.parent in going_on
            going_on.append(context)
        else:
            assert going_on.pop() is context
    assert not going_on


@with_callbacks_only
@pytest.mark.parametrize(
    "estimator", [ODEFS(random_state=0), LeSiNN(random_state=0), RandFS(random_state=0)], ids=str
)
def test_tasks_are_well_formed_and_change_nothing(estimator, noisy):
    recorder = Recorder()
    model = estimator.set_callbacks(recorder).fit(noisy)
    assert_well_formed(recorder)
    silent = estimator.set_callbacks().fit(noisy)
    assert np.array_equal(silent.outlier_scores_, model.outlier_scores_)
    assert recorder.names()[0] == "fit"
    assert np.array_equal(recorder.fitted.outlier_scores(noisy), model.outlier_scores_)
    assert not [name for name in vars(model) if "callback" in name], "nothing is left behind"


@with_callbacks_only
def test_components_are_counted(noisy):
    recorder = Recorder()
    ODEFS(
        n_estimators=7, trust=1.0, selection=FeatureSelection(n_rounds=1), n_jobs=2, random_state=0
    ).set_callbacks(recorder).fit(noisy)
    parts = Counter(
        context.parent.task_name for what, context in recorder.calls if context.task_name == "part"
    )
    contexts = {context.task_name: context for _, context in recorder.calls}
    n_batches = contexts["learning which columns matter"].max_subtasks
    assert 1 <= n_batches <= 7
    assert parts["learning which columns matter"] == 2 * n_batches


@with_callbacks_only
def test_a_failing_fit_tears_down(noisy):
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        ODEFS().set_callbacks(recorder).fit(np.full((50, 3), np.nan))
    assert recorder.calls[-1][0] == "teardown"


@with_callbacks_only
def test_a_failing_callback_fails_the_fit(noisy):
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ODEFS(random_state=0).set_callbacks(Failing()).fit(noisy)


@with_callbacks_only
def test_steps_of_a_pipeline_are_followed(noisy):
    recorder = Recorder()
    selector = ODEFSSelector(
        ODEFS(
            n_estimators=4,
            trust=1.0,
            selection=FeatureSelection(n_rounds=1),
            n_jobs=2,
            random_state=0,
        )
    )
    make_pipeline(StandardScaler(), selector, LeSiNN(random_state=0)).set_callbacks(recorder).fit(
        noisy
    )
    assert_well_formed(recorder)
    assert {context.estimator_name for _, context in recorder.calls} >= {
        "Pipeline",
        "ODEFSSelector",
        "ODEFS",
        "LeSiNN",
    }
    of_training = [
        context
        for what, context in recorder.calls
        if context.task_name == "learning which columns matter"
    ]
    begun, ended = (len(list(context)) - 1 for context in of_training)
    assert begun == ended >= 1


@with_callbacks_only
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_progress_bar_of_scikit_learn_draws(noisy, n_jobs, capsys):
    from sklearn.callback import ProgressBar

    search = GridSearchCV(
        ODEFS(random_state=0),
        {"n_estimators": [3, 4]},
        scoring=lambda model, X, y=None: 0.0,
        cv=2,
        n_jobs=n_jobs,
    )
    search.set_callbacks(ProgressBar()).fit(noisy)
    assert search.best_params_["n_estimators"] == 3
    shown = capsys.readouterr().out
    assert "ODEFS - learning which columns matter" in shown


@with_callbacks_only
def test_a_scoring_monitor_sees_the_fitted_model(noisy):
    from sklearn.callback import ScoringMonitor

    y = np.where(np.arange(500) < 15, -1, 1)
    monitor = ScoringMonitor(scoring="accuracy")
    model = ODEFS(random_state=0).set_callbacks(monitor).fit(noisy, y)
    (score,) = [row["accuracy"] for row in monitor.get_logs().data]
    assert score == np.mean(model.predict(noisy) == y)


@with_callbacks_only
def test_work_counted_in_rows_is_told_in_percent():
    class Root:
        def __init__(self):
            self.children, self.calls = [], []

        def subcontext(self, task_name, max_subtasks=0):
            child = Root()
            child.max_subtasks = max_subtasks
            self.children.append(child)
            return child

        def call_on_fit_task_begin(self, estimator):
            self.calls.append("begin")

        def call_on_fit_task_end(self, estimator):
            self.calls.append("end")

    root = Root()
    tasks = _Tasks(None, root)
    for done in range(0, 1_000_001, 1000):
        tasks("sweep", done, 1_000_000)
    tasks("over at once", 1, 1)
    tasks("length unknown", 5000, 5000)
    tasks("broken off", 3, 10)
    tasks("next", 1, 2)
    tasks.close()
    assert [(child.max_subtasks, len(child.children)) for child in root.children] == [
        (MOST_PARTS, 100),
        (10, 3),
        (2, 1),
    ]
    assert all(child.calls == ["begin", "end"] for child in root.children)


def test_listeners_hear_side_by_side(noisy):
    heard, heard_inside = [], []
    with listening(lambda *told: heard.append(told)):
        with listening(lambda *told: heard_inside.append(told)):
            ODEFS(random_state=0).fit(noisy)
        n_inside = len(heard)
        LeSiNN(random_state=0).fit(noisy)
    assert heard[:n_inside] == heard_inside
    assert len(heard) > n_inside > 0


def test_estimators_work_where_scikit_learn_has_no_callbacks():
    script = (
        "import sys, sklearn.feature_selection\n"
        "sys.modules['sklearn.callback'] = None\n"
        "import numpy as np, odefs.estimators.callbacks as callbacks\n"
        "assert not callbacks.AVAILABLE\n"
        "from odefs import ODEFS, ODEFSSelector\n"
        "X = np.random.default_rng(0).normal(size=(200, 5))\n"
        "assert not hasattr(ODEFS(), 'set_callbacks')\n"
        "print(ODEFS(random_state=0).fit(X).outlier_scores_[0], "
        "ODEFSSelector(keep=2).fit_transform(X).shape)"
    )
    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False
    )
    X = np.random.default_rng(0).normal(size=(200, 5))
    assert shown.stdout == f"{ODEFS(random_state=0).fit(X).outlier_scores_[0]} (200, 2)\n", (
        shown.stderr
    )
