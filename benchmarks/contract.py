"""scikit-learn's ``check_estimator`` on outlier detectors: ``python -m benchmarks.contract``.

Runs it on the estimators of this library, scikit-learn, PyOD and isotree. Each estimator adds one
line to ``results/contract.jsonl``; estimators that have one for the installed versions are not run
again. ``docs/explanation/contract.md`` is then written from the lines
(:mod:`benchmarks.contract_page`). Packages that are not installed are reported and left out.
"""

import argparse
import json
import re
import warnings
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.records import read_records

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "results" / "contract.jsonl"


class Subject(NamedTuple):
    """One row of the table: how it is shown, and how it is made."""

    library: str
    shown: str
    module: str
    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def make(self) -> Any:
        made: Any = import_module(self.module)
        for part in self.name.split("."):
            made = getattr(made, part)
        return made(**dict(self.parameters))


SUBJECTS = [
    Subject("odefs", "ODEFS()", "odefs", "ODEFS"),
    Subject("odefs", "ODEFS.paper()", "odefs", "ODEFS.paper"),
    Subject("odefs", 'ODEFS(detector="iforest")', "odefs", "ODEFS", (("detector", "iforest"),)),
    Subject("odefs", 'ODEFS(detector="tails")', "odefs", "ODEFS", (("detector", "tails"),)),
    Subject("odefs", "LeSiNN()", "odefs", "LeSiNN"),
    Subject("odefs", "ODEFSSelector()", "odefs", "ODEFSSelector"),
    Subject("odefs", "compat.pyod.ODEFS()", "odefs.compat.pyod", "ODEFS"),
    Subject("odefs", "compat.pyod.LeSiNN()", "odefs.compat.pyod", "LeSiNN"),
    Subject("scikit-learn", "IsolationForest()", "sklearn.ensemble", "IsolationForest"),
    Subject("scikit-learn", "LocalOutlierFactor()", "sklearn.neighbors", "LocalOutlierFactor"),
    Subject("scikit-learn", "OneClassSVM()", "sklearn.svm", "OneClassSVM"),
    Subject("scikit-learn", "EllipticEnvelope()", "sklearn.covariance", "EllipticEnvelope"),
    *(
        Subject("pyod", f"{name}()", f"pyod.models.{name.lower()}", name)
        for name in (
            "ECOD",
            "COPOD",
            "HBOS",
            "PCA",
            "KNN",
            "LOF",
            "IForest",
            "LODA",
            "INNE",
            "OCSVM",
            "GMM",
            "MCD",
        )
    ),
    Subject("isotree", "IsolationForest()", "isotree", "IsolationForest"),
]


def run_checks(estimator: Any) -> list[list[str]]:
    """``[check, status, what went wrong]`` for each of scikit-learn's checks, in their order.

    If ``check_estimator`` itself fails for an estimator, there is one line with its name.
    """
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = check_estimator(estimator, on_skip=None, on_fail=None)
        except Exception as error:
            return [["check_estimator", "failed", _said(error)]]
    return [
        [result["check_name"], result["status"], _said(result["exception"])] for result in results
    ]


def _said(error: BaseException | None) -> str:
    if error is None:
        return ""
    # Folders of the machine tell nothing.
    text = re.sub(r"(/[\w.+-]+){2,}/?", "...", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:160]}" if lines else type(error).__name__


def run_missing(subjects: Iterable[Subject], path: Path = RECORDS) -> list[str]:
    """Run what has no line for the installed versions; returns what could not be run, in words."""
    left_out = []
    for subject in subjects:
        try:
            versions = {
                name: version(name) for name in sorted({subject.library, "scikit-learn", "numpy"})
            }
            estimator = subject.make()
        except ImportError as error:
            left_out.append(f"{subject.library}'s {subject.shown}: {error}")
            continue
        done = [
            r
            for r in read_records(path)
            if (r["library"], r["estimator"]) == (subject.library, subject.shown)
        ]
        if not any(record["versions"] == versions for record in done):
            print(f"{subject.library} {subject.shown} ...", flush=True)
            record = {"library": subject.library, "estimator": subject.shown, "versions": versions}
            line = json.dumps({**record, "checks": run_checks(estimator)})
            with path.open("a") as file:
                file.write(line + "\n")
    return left_out


def main() -> None:
    from benchmarks.contract_page import write_page

    parser = argparse.ArgumentParser(prog="python -m benchmarks.contract", description=__doc__)
    parser.add_argument(
        "--page-only", action="store_true", help="write the page from the records as they are"
    )
    if not parser.parse_args().page_only:
        for line in run_missing(SUBJECTS):
            print(f"left out: {line}")
    print(write_page(read_records(RECORDS), ROOT / "docs" / "explanation"))


if __name__ == "__main__":
    main()
