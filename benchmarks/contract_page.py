"""``docs/explanation/contract.md`` from the records of :mod:`benchmarks.contract`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ASKS = {
    # check of scikit-learn: what it asks, in a few words
    "check_estimator": "that the checks can begin",
    "check_no_attributes_set_in_init": "constructors store parameters and nothing else",
    "check_do_not_raise_errors_in_init_or_set_params": (
        "constructors and `set_params` store any value; `fit` judges it"
    ),
    "check_dont_overwrite_parameters": (
        "`fit` leaves parameters alone and adds no public names without `_` at the end"
    ),
    "check_estimators_unfitted": "scoring before `fit` says so",
    "check_fit_check_is_fitted": "an estimator that was not fitted can be told from one that was",
    "check_n_features_in": "`n_features_in_` appears with `fit`",
    "check_n_features_in_after_fitting": (
        "other numbers of columns than in `fit` are refused with the usual sentence"
    ),
    "check_estimators_nan_inf": (
        "missing and infinite values are refused, in scoring too, or the tags say that they are "
        "taken"
    ),
    "check_dtype_object": "columns of Python objects that hold numbers are taken",
    "check_estimator_sparse_tag": "the tags say whether sparse input is taken",
    "check_estimator_sparse_array": "sparse arrays are taken or refused with a clear sentence",
    "check_estimator_sparse_matrix": "sparse matrices are taken or refused with a clear sentence",
    "check_outliers_fit_predict": "`fit_predict` answers 1 and -1 and agrees with `predict`",
    "check_outliers_train": "`predict` answers 1 and -1, scores agree with it",
    "check_classifier_data_not_an_array": "labels may be any array-like",
    "check_methods_subset_invariance": (
        "a row's score does not depend on the rows that are scored beside it"
    ),
    "check_methods_sample_order_invariance": "a row's score does not depend on the order of rows",
    "check_dict_unchanged": "scoring leaves the fitted estimator as it was",
    "check_fit2d_predict1d": "one row given as a flat list is refused with the usual sentence",
    "check_fit2d_1sample": "a table of one row works or is refused with a clear sentence",
    "check_fit2d_1feature": "a table of one column works or is refused with a clear sentence",
    "check_non_transformer_estimators_n_iter": "what has `max_iter` tells `n_iter_`",
    "check_sample_weights_not_an_array": "weights of rows may be any array-like",
    "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 counts as the row twice",
    "check_sample_weight_equivalence_on_sparse_data": "the same, for sparse input",
    "check_complex_data": "complex numbers are refused",
    "check_estimators_dtypes": "any type of number is taken, by every method",
    "check_estimators_empty_data_messages": (
        "a table without rows or columns is refused with the usual sentence"
    ),
    "check_estimators_overwrite_params": "`fit` leaves parameters as they were",
    "check_estimators_pickle": "every method answers the same after pickling",
    "check_f_contiguous_array_estimator": "arrays in column order are taken, by every method",
    "check_fit_idempotent": "fitting twice gives what fitting once gives, in every method",
    "check_fit_score_takes_y": "`y` is the second argument of `fit` and its like",
    "check_transformer_data_not_an_array": "`transform` takes any array-like",
    "check_transformer_general": "`fit_transform` agrees with `fit` and `transform`",
    "check_transformers_unfitted": "`transform` before `fit` says so",
}

LIBRARIES = ("odefs", "scikit-learn", "pyod", "isotree")
SHOWN = {"pyod": "PyOD"}

FAIRNESS = (
    "PyOD keeps another contract, and does not promise this one: its labels are 0 and 1 where "
    "scikit-learn's outlier detectors say 1 and -1, scores are high for outliers, and "
    "constructors refuse wrong values at once. These alone are four failed checks of every "
    "detector of PyOD (`check_outliers_fit_predict`, `check_outliers_train` twice, "
    "`check_do_not_raise_errors_in_init_or_set_params`), and of\n"
    "[this library's adapters](../how-to/ecosystems.md) too, for they are PyOD detectors. Two "
    "checks of sparse input fail where an estimator that takes it has `predict_proba`, which\n"
    "scikit-learn keeps for classifiers. They say nothing of how well a detector finds outliers. "
    "What matters in use is what goes wrong in a pipeline: a score\n"
    "that depends on the rows beside it, a missing value that passes through in silence.\n\n"
    "`sample_weight` is beyond what this library offers, and what fails in scikit-learn's own "
    "detectors concerns only that; its own tests expect these."
)


def write_page(records: Sequence[dict[str, Any]], docs: Path) -> Path:
    """Write the page from the last record of each estimator."""
    latest = {(record["library"], record["estimator"]): record for record in records}
    kept = sorted(latest.values(), key=lambda record: LIBRARIES.index(record["library"]))
    parts = [
        "# The same checks for all",
        "What `sklearn.utils.estimator_checks.check_estimator` says of the estimators of this "
        "library, of scikit-learn's own outlier detectors and of others', each as its constructor "
        "makes it. "
        "Written by `python -m benchmarks.contract` from `results/contract.jsonl`. "
        f"{_versions(kept)}{_without(kept)}",
        _table(kept),
        "The check that is skipped everywhere is that of array-API input, which SciPy must be "
        "told to allow before it starts.",
        FAIRNESS,
        *_imputing(kept),
        "## What the failed checks ask",
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
        "values, which it can only where `build_imputer=True` was asked for, and the checks call "
        "every method there is."
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
    lines = ["| check | asks that | fails in |", "| --- | --- | --- |"]
    for name, who in sorted(failing.items(), key=lambda item: (-len(item[1]), item[0])):
        libraries = Counter(one.split()[0] for one in who)
        shown = (
            ", ".join(who)
            if len(who) <= 4
            else ", ".join(f"{n} of {library}" for library, n in libraries.items())
        )
        lines.append(f"| `{name}` | {ASKS.get(name, '')} | {shown} |")
    return "\n".join(lines)
