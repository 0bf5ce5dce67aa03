"""Calls of the Python interface.

Each function returns its result: an estimator, a detection, or facts.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import odefs

from .content import matrix, mixed
from .tables import as_arrow

ENGINES = "engines"


@dataclass(frozen=True)
class Call:
    """Calls of one group are expected to give the same scores."""

    function: Callable[[], Any]
    group: str
    needs: str | None = None


CALLS: dict[str, Call] = {}


def _call(name, group=None, needs=None):
    def keep(function):
        CALLS[name] = Call(function, group or name, needs)
        return function

    return keep


def public(name, *homes):
    """A public name, from the package where it is there, otherwise from the documented module."""
    for home in ("odefs", *homes):
        found = getattr(import_module(home), name, None)
        if found is not None:
            return found
    raise AttributeError(f"there is no {name} in odefs or {', '.join(homes)}.")


def row_blocks():
    return public("RowBlocks", "odefs.engines.stream")


def _fit(X, **settings):
    return odefs.ODEFS(random_state=0, **settings).fit(X)


@_call("local, one thread", ENGINES)
def _():
    return _fit(matrix(), n_jobs=1)


@_call("local, two threads", ENGINES)
def _():
    return _fit(matrix(), n_jobs=2)


@_call("stream of blocks", ENGINES)
def _():
    return _fit(row_blocks().from_arrays(np.array_split(matrix(), 7)))


@_call("stream of a function", ENGINES)
def _():
    return _fit(
        row_blocks().from_arrays(lambda: iter(np.array_split(matrix(), 3))), engine="stream"
    )


@_call("stream of a parquet folder", ENGINES, "pyarrow")
def _():
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        for part, rows in enumerate(np.array_split(matrix(), 3)):
            columns = {f"x{k}": rows[:, k] for k in range(rows.shape[1])}
            pq.write_table(pa.table(columns), Path(folder) / f"{part}.parquet")
        model = _fit(row_blocks().from_parquet(folder))
        return _kept(model)


@_call("dask", ENGINES, "distributed")
def _():
    import dask.array as da
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None):
        return _kept(_fit(da.from_array(matrix(), chunks=(90, 5))))


@_call("torch on the processor", ENGINES, "torch")
def _():
    return _fit(matrix(), engine="torch:cpu")


@_call("float32")
def _():
    return _fit(matrix(dtype=np.float32))


@_call("sparse")
def _():
    from scipy import sparse

    X = matrix(300, 10)
    X[np.abs(X) < 1] = 0
    return _fit(sparse.csr_array(X))


@_call("missing cells", "missing")
def _():
    return _fit(matrix(missing=0.05), missing="ignore")


@_call("missing cells in blocks", "missing")
def _():
    return _fit(row_blocks().from_arrays(np.array_split(matrix(missing=0.05), 4)), missing="ignore")


@_call("missing cells refused")
def _():
    return _fit(matrix(missing=0.05))


@_call("known outliers")
def _():
    return odefs.ODEFS(random_state=0).fit(
        matrix(), known_outliers=[0, 3, 5], known_normal=[100, 200]
    )


@_call("contamination")
def _():
    return _fit(matrix(), contamination=0.05)


@_call("paper")
def _():
    # Learned to convergence, components end in minima that depend on the processor's rounding.
    model = odefs.ODEFS.paper(random_state=0, n_estimators=4)
    return model.set_params(selection__tol=1e-3).fit(matrix())


@_call("iforest")
def _():
    return _fit(matrix(), detector="iforest", n_estimators=3)


@_call("tails")
def _():
    return _fit(matrix(), detector="tails", n_estimators=4)


@_call("lbfgs and hinge")
def _():
    return _fit(
        matrix(200, 8),
        selection=odefs.FeatureSelection(solver="lbfgs", loss="hinge"),
        n_estimators=3,
        trust=0.5,
    )


@_call("LeSiNN")
def _():
    return odefs.LeSiNN(random_state=0).fit(matrix())


@_call("LeSiNN in blocks", "LeSiNN")
def _():
    return odefs.LeSiNN(random_state=0).fit(row_blocks().from_arrays(np.array_split(matrix(), 5)))


@_call("scores of other rows")
def _():
    model = _fit(matrix())
    other = matrix(60, seed=2)
    explained = model.explain(other[:4])
    return {
        "scores": model.outlier_scores(other),
        "flagged": np.flatnonzero(model.predict(other) == -1).tolist(),
        "decision": model.decision_function(other[:5]).tolist(),
        "agreement": model.agreement(other[:20]).tolist(),
        "reasons": {
            str(k): [reason.column for reason in explained.reasons(k)[0]] for k in range(4)
        },
    }


@_call("selector")
def _():
    chosen = {
        str(keep): odefs.ODEFSSelector(keep=keep, random_state=0).fit(matrix())
        for keep in ("any", 3, 0.8)
    }
    return {
        "kept": {
            keep: np.flatnonzero(selector.support_).tolist() for keep, selector in chosen.items()
        }
    }


@_call("detect pandas", "frames", "pandas")
def _():
    import pandas as pd

    return odefs.detect(pd.DataFrame(mixed(150, 50)), id="id")


@_call("detect polars", "frames", "polars")
def _():
    import polars as pl

    return odefs.detect(pl.DataFrame(mixed(150, 50)), id="id")


@_call("detect pyarrow", "frames", "pyarrow")
def _():
    return odefs.detect(as_arrow(mixed(150, 50)), id="id")


@_call("detect numpy")
def _():
    return odefs.detect(matrix(150, 6))


@_call("detect pandas with an index", needs="pandas")
def _():
    import pandas as pd

    frame = pd.DataFrame(mixed(150, 51)).set_index("id")
    frame["shop"] = frame["shop"].astype("category")
    return odefs.detect(
        frame, category=["quantity"], drop=["noise"], known_outliers=[3, 17], flag=6
    )


@_call("pipeline saved and loaded", needs="polars")
def _():
    import polars as pl

    found = odefs.detect(pl.DataFrame(mixed(150, 52)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.odefs"
        found.save(path)
        pipeline = odefs.load(path)
        other = pl.DataFrame(mixed(60, 53))
        batches = odefs.score_batches(
            path, as_arrow(mixed(60, 53)).to_batches(max_chunksize=25), id="id"
        )
        return {
            "scores": -pipeline.score_samples(other),
            "flagged": np.flatnonzero(pipeline.predict(other) == -1).tolist(),
            "in batches": [
                score for batch in batches for score in batch.column("score").to_pylist()
            ],
        }


def _kept(model):
    """With scores in memory, before the folder or cluster that they may come from is gone."""
    model.outlier_scores_ = np.array(model.outlier_scores_)
    model.is_outlier_ = np.array(model.is_outlier_)
    return model
