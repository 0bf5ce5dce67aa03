"""``docs/explanation/contract.md`` from the records of :mod:`benchmarks.contract`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REQUIREMENTS = {
    # check of scikit-learn: what it requires, in a few words
    "check_estimator": "the checks can start",
    "check_no_attributes_set_in_init": "constructors store parameters and nothing else",
    "check_do_not_raise_errors_in_init_or_set_params": (
        "constructors and `set_params` store any value; `fit` validates it"
    ),
    "check_dont_overwrite_parameters": (
        "`fit` does not change parameters, and public attributes that it adds end in `_`"
    ),
    "check_estimators_unfitted": "scoring before `fit` raises `NotFittedError`",
    "check_fit_check_is_fitted": "`check_is_fitted` tells fitted from unfitted estimators",
    "check_n_features_in": "`n_features_in_` appears with `fit`",
    "check_n_features_in_after_fitting": (
        "another number of columns than in `fit` raises scikit-learn's error"
    ),
    "check_estimators_nan_inf": (
        "missing and infinite values raise an error, in scoring too, unless the tags declare "
        "support"
    ),
    "check_dtype_object": "columns of Python objects that are numbers are accepted",
    "check_estimator_sparse_tag": "the tags declare whether sparse input is supported",
    "check_estimator_sparse_array": "sparse arrays are accepted or raise a clear error",
    "check_estimator_sparse_matrix": "sparse matrices are accepted or raise a clear error",
    "check_outliers_fit_predict": "`fit_predict` returns 1 and -1 and agrees with `predict`",
    "check_outliers_train": "`predict` returns 1 and -1 and agrees with the scores",
    "check_classifier_data_not_an_array": "labels may be any array-like",
    "check_methods_subset_invariance": (
        "a row's score does not depend on the other rows of its batch"
    ),
    "check_methods_sample_order_invariance": "a row's score does not depend on the order of rows",
    "check_dict_unchanged": "scoring does not change the fitted estimator",
    "check_fit2d_predict1d": "a one-dimensional row raises scikit-learn's error",
    "check_fit2d_1sample": "a table of one row works or raises a clear error",
    "check_fit2d_1feature": "a table of one column works or raises a clear error",
    "check_non_transformer_estimators_n_iter": "estimators with `max_iter` have `n_iter_`",
    "check_sample_weights_not_an_array": "weights of rows may be any array-like",
    "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 counts as the row twice",
    "check_sample_weight_equivalence_on_sparse_data": "the same, for sparse input",
    "check_complex_data": "complex numbers are refused",
    "check_estimators_dtypes": "every method accepts all numeric types",
    "check_estimators_empty_data_messages": (
        "a table without rows or columns raises scikit-learn's error"
    ),
    "check_estimators_overwrite_params": "`fit` leaves parameters as they were",
    "check_estimators_pickle": "every method returns the same after pickling",
    "check_f_contiguous_array_estimator": "every method accepts arrays in column order",
    "check_fit_idempotent": "fitting twice gives the same results as fitting once",
    "check_fit_score_takes_y": "`y` is the second argument of `fit` and similar methods",
    "check_transformer_data_not_an_array": "`transform` takes any array-like",
    "check_transformer_general": "`fit_transform` agrees with `fit` and `transform`",
    "check_transformers_unfitted": "`transform` before `fit` raises `NotFittedError`",
}

LIBRARIES = ("odefs", "scikit-learn", "pyod", "isotree")
SHOWN = {"pyod": "PyOD"}

FAIRNESS = (
    "PyOD has conventions of its own: its labels are 0 and 1 where "
    "scikit-learn's outlier detectors return 1 and -1, scores are high for outliers, and "
    "constructors validate parameters. These alone account for four failed checks of every "
    "detector of PyOD (`check_outliers_fit_predict`, `check_outliers_train` twice, "
    "`check_do_not_raise_errors_in_init_or_set_params`), and of\n"
    "[this library's adapters](../how-to/ecosystems.md) too, since they are PyOD detectors. Two "
    "checks of sparse input fail where an estimator that takes it has `predict_proba`, which\n"
    "scikit-learn keeps for classifiers. The checks do not measure how well a detector finds "
    "outliers. Important in practice are failures that affect a pipeline: a score\n"
    "that depends on the other rows of its batch, a missing value that passes silently.\n\n"
    "This library does not support `sample_weight`. The failures of scikit-learn's own "
    "detectors concern only that, and its own tests expect them."
)


def write_page(records: Sequence[dict[str, Any]], docs: Path) -> Path:
    """Write the page from the last record of each estimator."""
    latest = {(record["library"], record["estimator"]): record for record in records}
    kept = sorted(latest.values(), key=lambda record: LIBRARIES.index(record["library"]))
    parts = [
        "# scikit-learn's estimator checks",
        "Results of `sklearn.utils.estimator_checks.check_estimator` for the estimators of this "
        "library, scikit-learn's own outlier detectors and those of other libraries, each with "
        "default parameters. "
        "Written by `python -m benchmarks.contract` from `results/contract.jsonl`. "
        f"{_versions(kept)}{_without(kept)}",
        _table(kept),
        "The check of array-API input is skipped everywhere: SciPy must be configured for it "
        "before it is imported.",
        FAIRNESS,
        *_imputing(kept),
        "## What the failed checks require",
        _asked(kept),
    ]
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "contract.md"
    page.write_text("\n\n".join(parts) + "\n")
    return page


def _imputing(records: Sequence[dict[str, Any]]) -> list[str]:
    """One choice of isotree's explains many of its failures."""
    found = [
        said
        for record in records
        if record["library"] == "isotree"
        for _, status, said in record["checks"]
        if status == "failed" and "build_imputer" in said
    ]
    if not found:
        return []
    return [
        f"{len(found)} of isotree's failures have one reason: its `transform` fills in missing "
        "values, which requires `build_imputer=True`, and the checks call every method."
    ]


def _versions(records: Sequence[dict[str, Any]]) -> str:
    found = sorted({item for record in records for item in record["versions"].items()})
    return f"Versions: {', '.join(f'{SHOWN.get(name, name)} {number}' for name, number in found)}."


def _without(records: Sequence[dict[str, Any]]) -> str:
    missing = [name for name in LIBRARIES if name not in {record["library"] for record in records}]
    return "".join(
        f" {SHOWN.get(name, name)} has no record yet: install it and run the command."
        for name in missing
    )


def _failed(record: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for name, status, _ in record["checks"] if status == "failed"))


def _table(records: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| library | estimator | passed | failed | skipped | failed checks |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for record in records:
        counts = Counter(status for _, status, _ in record["checks"])
        named = ", ".join(name.removeprefix("check_") for name in _failed(record))
        numbers = " | ".join(str(counts[status]) for status in ("passed", "failed", "skipped"))
        library = SHOWN.get(record["library"], record["library"])
        lines.append(f"| {library} | `{record['estimator']}` | {numbers} | {named} |")
    return "\n".join(lines)


def _asked(records: Sequence[dict[str, Any]]) -> str:
    failing: dict[str, list[str]] = {}
    for record in records:
        for name in _failed(record):
            shown = SHOWN.get(record["library"], record["library"])
            failing.setdefault(name, []).append(f"{shown} {record['estimator'].removesuffix('()')}")
    lines = ["| check | requirement | fails in |", "| --- | --- | --- |"]
    for name, who in sorted(failing.items(), key=lambda item: (-len(item[1]), item[0])):
        libraries = Counter(one.split()[0] for one in who)
        shown = (
            ", ".join(who)
            if len(who) <= 4
            else ", ".join(f"{n} of {library}" for library, n in libraries.items())
        )
        lines.append(f"| `{name}` | {REQUIREMENTS.get(name, '')} | {shown} |")
    return "\n".join(lines)
