"""``python -m benchmarks.rare_classes keel`` or ``r``: mean AUC, average precision and p@k.

None of these tables is among the datasets of the page on accuracy. Tables of one family count as
one. The weight of the relations in ``odefs.ensemble.companions`` was chosen with these tables as
well.
"""

import sys
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from os import cpu_count

import numpy as np

from benchmarks.rare_classes.labelled import Labelled
from benchmarks.rare_classes.measure import measure

SOURCES = {"keel": "keel_tables", "r": "r_tables"}


def main() -> None:
    warnings.simplefilter("ignore")
    names = sys.argv[1:] or list(SOURCES)
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn")) as pool:
        for name in names:
            found = import_module(f"benchmarks.rare_classes.{SOURCES[name]}").tables(pool)
            _show(name, found, list(pool.map(measure, found)))


def _show(name: str, tables: list[Labelled], results: list[dict[str, np.ndarray]]) -> None:
    families = defaultdict(list)
    for table, result in zip(tables, results, strict=True):
        families[table.family].append(result)
    rows = sum(len(table.y) for table in tables)
    print(f"{name}: {len(tables)} tables, {len(families)} families, {rows:,} rows\n")
    print("| detector | AUC | average precision | p@k |\n| -- | -- | -- | -- |")
    for detector in results[0]:
        means = [np.mean([one[detector] for one in some], axis=0) for some in families.values()]
        auc, precision, at_k = np.mean(means, axis=0)
        print(f"| {detector} | {auc:.4f} | {precision:.4f} | {at_k:.4f} |")
    print()


if __name__ == "__main__":
    main()
