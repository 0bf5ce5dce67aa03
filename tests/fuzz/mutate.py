"""Mutated files by the thousand: ``python -m tests.fuzz.mutate models 10000`` or ``csv 10000``.

Run from the root of the repository. Each file must be used or rejected with one message of the
project, within 5 s and 1 GB. The outcome is printed, findings are written to a folder, and the exit
code is 1 if there are any. The same seed gives the same files.
"""

import argparse
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .mutated_csv import mutated_csv
from .mutated_models import mutated_model
from .supervise import Outcome, Supervisor
from .targets import ENDINGS, seeds

LARGEST = 4 * 2**20
FINDINGS = ("error", "crash", "hang", "memory")
MUTATE: dict[str, Callable[[random.Random, bytes, bytes], bytes]] = {
    "models": mutated_model,
    "csv": mutated_csv,
}


@dataclass
class Tally:
    """What has come of the files so far."""

    counts: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    peak: int = 0
    findings: list[tuple[int, bytes, Outcome]] = field(default_factory=list)

    def add(self, number: int, content: bytes, outcome: Outcome) -> None:
        self.counts[outcome.verdict] += 1
        self.longest, self.peak = max(self.longest, outcome.seconds), max(self.peak, outcome.peak)
        if outcome.is_finding:
            self.findings.append((number, content, outcome))


def mutant(kind: str, seed: int, number: int, files: list[bytes]) -> bytes:
    """File ``number`` of a run: it depends on nothing but the arguments."""
    rng = random.Random(f"{kind} {seed} {number}")
    return MUTATE[kind](rng, rng.choice(files), rng.choice(files))[:LARGEST]


def run(
    kind: str,
    n_files: int,
    seed: int = 0,
    workers: int = 1,
    tell: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Try so many mutated files, in so many processes at once."""
    files, tally, lock, stopped = (
        list(seeds(kind).values()),
        Tally(),
        threading.Lock(),
        threading.Event(),
    )
    numbers: Iterator[int] = iter(range(n_files))

    def work() -> None:
        with Supervisor(kind) as supervisor:
            while not stopped.is_set():
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                content = mutant(kind, seed, number, files)
                outcome = supervisor.outcome(content)
                with lock:
                    tally.add(number, content, outcome)
                    tell(tally)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        stopped.set()
    if sum(tally.counts.values()) != n_files:
        raise RuntimeError("a worker has stopped before its time; see above.")
    return tally


def summary(kind: str, tally: Tally) -> str:
    """The table that is printed at the end."""
    numbers = {
        "files": sum(tally.counts.values()),
        **{verdict: tally.counts[verdict] for verdict in ("accepted", "refused", *FINDINGS)},
        "longest": f"{tally.longest:.2f} s",
        "peak memory": f"{tally.peak / 1e6:.0f} MB",
    }
    widths = [max(len(name), len(str(value))) for name, value in numbers.items()]
    rows = (["kind", *numbers], [kind, *map(str, numbers.values())])
    return "\n".join(
        "  ".join(f"{c:>{w}}" for c, w in zip(row, [6, *widths], strict=True)) for row in rows
    )


def keep(kind: str, number: int, content: bytes, outcome: Outcome, folder: Path) -> None:
    """Write a finding and what was said about it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{outcome.verdict}-{number}{ENDINGS[kind]}").write_bytes(content)
    (folder / f"{outcome.verdict}-{number}.txt").write_text(
        outcome.said, encoding="utf-8", errors="replace"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.mutate", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("kind", choices=sorted(MUTATE))
    parser.add_argument("files", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--findings", type=Path, default=Path("build/fuzz"), help="the folder that findings go to"
    )
    chosen = parser.parse_args()
    began, folder = time.monotonic(), chosen.findings / chosen.kind
    kept = 0

    def tell(tally: Tally) -> None:
        nonlocal kept
        done = sum(tally.counts.values())
        for finding in tally.findings[kept:]:
            keep(chosen.kind, *finding, folder)
        kept = len(tally.findings)
        if done % 500 == 0:
            seconds = time.monotonic() - began
            print(
                f"{done:,} files, {len(tally.findings)} findings, {seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )

    tally = run(chosen.kind, chosen.files, chosen.seed, chosen.workers, tell)
    print(summary(chosen.kind, tally))
    if not tally.findings:
        return 0
    last = Counter(outcome.said.strip().splitlines()[-1][:150] for *_, outcome in tally.findings)
    for said, count in last.most_common(30):
        print(f"{count:6}  {said}")
    print(f"written to {folder}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
