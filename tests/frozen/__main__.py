"""``python -m tests.frozen record``, ``compare [--sentences]``, or ``call NAME``.

``call`` makes one call in a separate process.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from .differences import bit_table, run_differences
from .execute import call_here, execute
from .record import RECORD, read_record, write_record
from .runs import RUNS


def _execute_all(names, workers, keep=lambda records: None):
    """Records by name; each run is made of processes, so threads are enough to wait for them."""
    records = {}
    with ThreadPoolExecutor(workers) as pool:
        started = {name: pool.submit(execute, RUNS[name]) for name in names}
        for name, run in started.items():
            if run.exception() is None:
                records[name] = run.result()
                keep(records)
            else:
                print(f"{name}: failed: {run.exception()}", flush=True)
    return records


def _keep(records):
    """Write after each run, so that a recording that is stopped is not lost."""
    kept = (read_record() if RECORD.exists() else {}) | records
    write_record({name: kept[name] for name in RUNS if name in kept})


def _compare(before, after, sentences):
    n_different = 0
    for name, record in after.items():
        if name not in before:
            n_different += 1
            print(f"{name}: not in the record")
            continue
        for path, old, new in run_differences(before[name], record, sentences):
            n_different += 1
            print(f"{name}: {path}: {old!r} -> {new!r}")
    print(f"{n_different} differences in {len(after)} runs")
    return n_different


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    parser.add_argument("task", choices=["record", "compare", "call"])
    parser.add_argument("names", nargs="*", help="parts of names of runs; all by default")
    parser.add_argument("--sentences", action="store_true", help="compare sentences, too")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.task == "call":
        print(json.dumps(call_here(given.names[0])))
        return 0
    names = [name for name in RUNS if not given.names or any(part in name for part in given.names)]
    start = time.monotonic()
    if given.task == "record":
        records = _execute_all(names, given.workers, _keep)
        n_different = len(names) - len(records)
    else:
        records = _execute_all(names, given.workers)
        n_different = len(names) - len(records) + _compare(read_record(), records, given.sentences)
    print(
        "\nScores that should be the same (run, reference, bits, largest relative difference, "
        "facts that differ):"
    )
    for line in bit_table([RUNS[name] for name in names], records):
        print(line)
    spent = os.times()
    used = spent.children_user + spent.children_system
    print(f"{len(names)} runs in {time.monotonic() - start:.0f} s, {used:.0f} s of processor time")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
