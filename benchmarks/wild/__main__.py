"""Run ``odefs detect`` on real files of registry packages and write the page on them.

``python -m benchmarks.wild`` exits with 1 if a rule is broken. ``--only TEXT`` runs the files
whose names contain the text and writes nothing.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.wild.fetch import FetchError, fetch
from benchmarks.wild.listing import WildFile, read_listing
from benchmarks.wild.page import PAGE, RECORDS, line_of, summary_of, write_page, write_records
from benchmarks.wild.rules import FAULTS, Outcome, outcome_of
from benchmarks.wild.run import run_file

CACHE = Path(__file__).parents[2] / ".wild"
AT_ONCE = 2


def run_all(paths: dict[WildFile, Path], at_once: int = AT_ONCE) -> Iterator[Outcome]:
    """Run several files at a time; outcomes come in the order of the listing."""
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda file: outcome_of(file, run_file(paths[file])), paths)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wild", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", help="files whose names contain this text")
    parser.add_argument("--jobs", type=int, default=AT_ONCE, help="files at a time")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the downloads")
    arguments = parser.parse_args()
    files = [file for file in read_listing() if (arguments.only or "") in file.label]
    try:
        paths = fetch(files, arguments.cache)
    except FetchError as error:
        print(error, file=sys.stderr)
        return 2
    outcomes = []
    for outcome in run_all(paths, arguments.jobs):
        print(line_of(outcome), flush=True)
        outcomes.append(outcome)
    print(f"\n{summary_of(outcomes)}")
    print(*_broken(outcomes), sep="\n")
    if not arguments.only:
        write_records(outcomes, RECORDS)
        write_page(outcomes, PAGE)
    return 1 if any(outcome.faults for outcome in outcomes) else 0


def _broken(outcomes: Iterable[Outcome]) -> list[str]:
    return [
        f"{outcome.file}: odefs detect {FAULTS[fault]}"
        + (f" ({outcome.message})" if outcome.message else "")
        for outcome in outcomes
        for fault in outcome.faults
    ]


if __name__ == "__main__":
    sys.exit(main())
