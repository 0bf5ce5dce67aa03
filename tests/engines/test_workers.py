"""Threads and processes that fit and score at once: the same bits as in sequence, no deadlock.

Processes run in a separate program, which is killed if it does not end.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest

from odefs import ODEFS, LeSiNN
from odefs.baselines import CINFO
from odefs.detectors import IForestDetector

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 12))
X[:20, 3] += 6
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
TREES = IForestDetector(n_trees=5, subset_size=32)
WORK = {
    "ODEFS": lambda: ODEFS(n_estimators=3, random_state=0, n_jobs=2).fit(X).outlier_scores_,
    "holes": lambda: (
        ODEFS(n_estimators=2, random_state=1, missing="ignore", n_jobs=2).fit(HOLES).outlier_scores_
    ),
    "iforest": lambda: ODEFS(detector=TREES, n_estimators=2, random_state=0).fit(X).outlier_scores_,
    "LeSiNN": lambda: LeSiNN(random_state=2, n_jobs=2).fit(X.astype(np.float32)).outlier_scores_,
    "CINFO": lambda: CINFO(n_subsets=10, random_state=0).fit(X[:200]).outlier_scores_,
}


def at_once(*tasks):
    """Results of tasks that begin together in a thread each."""
    found, barrier = [None] * len(tasks), threading.Barrier(len(tasks))

    def work(k):
        barrier.wait(60)
        found[k] = tasks[k]()

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"
    return found


def test_different_fits_at_once_have_the_bits_of_one_after_the_other():
    alone = [work() for work in WORK.values()]
    for found in (at_once(*WORK.values()), at_once(*reversed(WORK.values()))[::-1]):
        for before, together in zip(alone, found, strict=True):
            assert np.array_equal(before, together)


@pytest.mark.parametrize("rows", [X, HOLES], ids=["whole", "holes"])
def test_one_model_serves_many_threads_while_another_is_fitted(rows, tmp_path):
    model = ODEFS(n_estimators=3, random_state=0, missing="ignore", n_jobs=2).fit(rows)
    parts = [rows[k::6] for k in range(6)]
    alone = [(model.outlier_scores(part), model.explain(part[:9]).values) for part in parts]
    tasks = [
        lambda part=part: [
            (model.outlier_scores(part), model.explain(part[:9]).values) for _ in range(5)
        ]
        for part in parts
    ]
    *found, _, _ = at_once(*tasks, WORK["ODEFS"], lambda: model.save(tmp_path / "m"))
    for (scores, shares), repeated in zip(alone, found, strict=True):
        for again, again_shares in repeated:
            assert np.array_equal(again, scores)
            assert np.array_equal(again_shares, shares)


PROGRAM = """
import hashlib, multiprocessing, os, signal, sys, threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial
import numpy as np
from odefs import ODEFS, LeSiNN
from odefs.system import threads

X = np.random.default_rng(0).normal(size=(400, 12))

def digest(seed):
    model = ODEFS(n_estimators=2, n_subsets=10, random_state=seed, n_jobs=2).fit(X)
    bare = LeSiNN(random_state=seed, n_jobs=2).fit(X)
    found = (model.outlier_scores_, model.explain(X[:50]).values, bare.outlier_scores_)
    return hashlib.sha256(b"".join(a.tobytes() for a in found)).hexdigest()

def score(model, part):
    return model.outlier_scores(X[part::4]).tobytes()

def in_a_child(task):
    "What a process forked just now finds; the word nothing where it does not end."
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(100)  # by the system: a deadlock cannot keep it from ending
        os.write(writing, task().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found or "nothing"

def pooled(map):
    model = ODEFS(n_estimators=2, random_state=0, n_jobs=2).fit(X)
    return [list(map(digest, range(3))), list(map(partial(score, model), range(4)))]

def forked_while_others_work():
    "Another thread is in a fit, a third holds the lock on BLAS threads: not in the child."
    entered, leave = threading.Event(), threading.Event()
    def hold():
        with threads.one_blas_thread(), threads._lock:
            entered.set()
            leave.wait(100)
    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(60)
    found = in_a_child(lambda: digest(0))
    leave.set()
    holder.join()
    busy = threading.Thread(target=lambda: [digest(seed) for seed in range(3)])
    busy.start()
    while busy.is_alive():
        found += in_a_child(lambda: digest(0))
    return found

if __name__ == "__main__":
    here = pooled(map)
    for way in sys.argv[1:]:
        if way == "busy":
            there = forked_while_others_work()
            same = not there.replace(here[0][0], "")
            if not same:
                print(here[0][0], there, file=sys.stderr, flush=True)
        elif way == "loky":
            from joblib import Parallel, delayed
            same = here == pooled(
                lambda task, items: Parallel(n_jobs=2)(delayed(task)(item) for item in items)
            )
        elif way == "executor":
            context = multiprocessing.get_context("forkserver")
            with ProcessPoolExecutor(2, mp_context=context) as pool:
                same = here == pooled(pool.map)
        else:
            with multiprocessing.get_context(way).Pool(2) as pool:
                same = here == pooled(pool.map)
        print(way, "same" if same else "differs", flush=True)
"""


def run_program(tmp_path, *ways):
    """A real kill ends what hangs: the test fails and nothing is left running."""
    (tmp_path / "program.py").write_text(PROGRAM)
    line = [sys.executable, "-W", "ignore", "program.py", *ways]
    done = subprocess.run(
        line, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=240
    )
    assert done.stdout.splitlines() == [f"{way} same" for way in ways], done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="fork is for Linux")
def test_forked_workers(tmp_path):
    run_program(tmp_path, "fork", "busy")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["spawn", "loky", "executor"])
def test_workers_that_start_anew(way, tmp_path):
    run_program(tmp_path, way)
