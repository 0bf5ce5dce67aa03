"""Allowed outcomes for a file: it is used, or rejected by the project in one sentence.

Everything else is a finding and is raised.
"""

import linecache
import os
import time
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import odefs
from odefs.detection import detect
from odefs.exceptions import ModelFileError, TableError
from odefs.tables.detect import score_table
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.readers.open import open_table
from odefs.tables.table import table_of

CORPUS = Path(__file__).parent / "corpus"
GOLDEN = Path(__file__).parent.parent / "golden"
LIBRARY = str(Path(odefs.__file__).parent)
N_ROWS = 9
LONGEST_SENTENCE = 2000
IN_FULL = 16
"""Every so many-th table goes through the default model and a report, which take longer."""

SMALL: dict[str, Any] = {
    **{"scaling": "none", "random_state": 0},
    **{
        "n_estimators": 1,
        "selection": odefs.FeatureSelection(n_rounds=1),
        "n_subsets": 4,
        "subset_size": 4,
        "trust": 1.0,
    },
}


def refusal(error: BaseException) -> str | None:
    """The sentence, if the project itself raised this error on purpose; ``None`` for all others."""
    known = isinstance(error, TableError | ModelFileError) or (
        type(error) is ValueError and _raised_here(error)
    )
    sentence = str(error)
    if (
        not known
        or not sentence.strip()
        or len(sentence.splitlines()) > 1
        or len(sentence) > LONGEST_SENTENCE
    ):
        return None
    return sentence


def _raised_here(error: BaseException) -> bool:
    """Whether the innermost line is a ``raise`` of the library, not a call that went wrong."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(LIBRARY):
        return False
    return (
        linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        .strip()
        .startswith("raise ")
    )


def judge(use: Callable[[Path], None], path: Path) -> str:
    """Empty if the file could be used, the message if it was rejected; raises anything else."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            use(path)
    except Exception as error:
        sentence = refusal(error)
        if sentence is None:
            raise
        return sentence
    return ""


def use_model(path: Path) -> None:
    """Load a model as in Python and on the command line, and score and explain rows with it."""
    model = odefs.load(path)
    repr(model)
    if not hasattr(model, "steps"):
        _must(_use_estimator, model)
        return
    saved = load_table_model(path)
    frame = _frame(saved.encoder)
    _must(_use_pipeline, model, saved, frame)


def _must(use: Callable[..., None], *given: Any) -> None:
    """A model that has been accepted has no excuse any more."""
    try:
        use(*given)
    except ValueError as error:
        raise AssertionError(
            f"a model was accepted and cannot be used: {type(error).__name__}: {error}"
        ) from error


def _use_estimator(model: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(N_ROWS, model.n_features_in_)) * 3
    assert model.outlier_scores(rows).shape == (N_ROWS,)
    assert model.predict(rows).shape == (N_ROWS,)
    model.explain(rows, top=2).reasons(0)


def _use_pipeline(model: Any, saved: Any, frame: pl.DataFrame) -> None:
    assert model.score_samples(frame).shape == (N_ROWS,)
    odefs.explain(model, frame)
    found, _ = score_table(table_of(frame), saved.model, saved.encoder)
    found.reasons([0, N_ROWS - 1])


def _frame(encoder: Any) -> pl.DataFrame:
    """Rows for the encoder: known and new categories, numbers around its range, and blanks."""
    columns: dict[str, pl.Series] = {}
    for spec in encoder.specs_:
        if spec.kind == "category":
            cells: list[Any] = [*spec.levels[:2], "never seen", None]
            dtype: Any = pl.String
        elif spec.kind == "boolean":
            cells, dtype = [True, False, None], pl.Boolean
        elif spec.kind == "time":
            cells, dtype = [0, 1_700_000_000_123_456, None], pl.Datetime("us")
        else:
            cells, dtype = [spec.low, spec.high, -1e9, None], pl.Float64
        columns[spec.name] = pl.Series(spec.name, (cells * N_ROWS)[:N_ROWS], dtype=dtype)
    return pl.DataFrame(columns)


def use_table(path: Path) -> None:
    """Read a table, find its outliers and say why they are."""
    table = open_table(path).table
    in_full = zlib.crc32(path.read_bytes()) % IN_FULL == 0
    found = detect(table, model=None if in_full else odefs.ODEFS(**SMALL))
    assert found.scores.shape == (table.n_rows,)
    assert not np.isnan(found.scores).any()
    found.reasons([int(row) for row in found.order[:3]])
    if in_full:
        report = found.report()
        report.markdown()
        report.json()


def obey(path: Path) -> None:
    """Does what the file says, so that it can be seen that whoever watches takes notice."""
    match path.read_text():
        case "hang":
            time.sleep(1000)
        case "die":
            os.abort()
        case "grow":
            bytearray(b"x") * 500_000_000
        case "refuse":
            raise TableError("no.")
        case "fail":
            raise KeyError("no")


USES: dict[str, Callable[[Path], None]] = {"models": use_model, "csv": use_table, "orders": obey}
ENDINGS = {"models": ".odefs", "csv": ".csv", "orders": ".txt"}


def seeds(kind: str) -> dict[str, bytes]:
    """The kept files by name: the golden models and the corpus."""
    folders = [CORPUS / kind, *([GOLDEN] if kind == "models" else [])]
    found = [path for folder in folders for path in sorted(folder.glob(f"*{ENDINGS[kind]}"))]
    return {path.stem: path.read_bytes() for path in found}
