"""A thousand fits, scorings and model files in one process leak no memory, threads or files."""

import subprocess
import sys

import pytest

PROGRAM = """
import gc, os, sys, time, warnings
from pathlib import Path
import numpy as np
import odefs
from odefs import ODEFS, LeSiNN
from odefs.baselines import RandFS

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
model = ODEFS(n_estimators=2, n_subsets=4, random_state=0, n_jobs=2).fit(X)
MODELS = [
    ODEFS(n_estimators=1, n_subsets=4, n_jobs=2),
    LeSiNN(n_subsets=4, missing="ignore"),
    ODEFS.paper(n_estimators=1, n_subsets=4, n_jobs=1),
    ODEFS(detector="tails", n_estimators=1),
    LeSiNN(n_subsets=4, n_jobs=2),
    RandFS(n_estimators=2, n_subsets=4),
]

def fit(k):
    # Seeds differ, so that nothing can be looked up.
    chosen = MODELS[k % len(MODELS)]
    chosen.set_params(random_state=k).fit(HOLES if chosen.missing == "ignore" else X)

def score(k):
    rows = X + k
    model.outlier_scores(rows[: 1 + k % 150])
    model.explain(rows[:5])

def save(k):
    model.save("m.odefs")
    odefs.load("m.odefs").outlier_scores(X[:3])

def state():
    gc.collect()
    time.sleep(0.2)  # threads that have told their end still have to leave
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    threads, files = (len(os.listdir(f"/proc/self/{kind}")) for kind in ("task", "fd"))
    return np.array([megabytes, len(gc.get_objects()), threads, files])

task = {"fits": fit, "scorings": score, "files": save}[sys.argv[1]]
for k in range(200):
    task(k)
before = state()
for k in range(200, 1000):
    task(k)
print(*(state() - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.parametrize("task", ["fits", "scorings", "files"])
def test_a_thousand_leave_nothing_behind(task, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, task],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    megabytes, objects, threads, files = map(float, done.stdout.split())
    # The allocator keeps about a megabyte; one object kept by each of 800 would be 800 objects, and
    # 5 kB each would be 4 MB.
    assert megabytes < 4
    assert objects < 400
    assert (threads, files) == (0, 0)
