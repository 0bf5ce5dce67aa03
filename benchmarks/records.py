"""Benchmark records: one line of ``results/performance.jsonl`` per run and machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.result import Result
from odefs.versions import collect_versions, processor_name

RECORDS = Path(__file__).parent.parent / "results" / "performance.jsonl"
KEPT = 3
"""Runs of a benchmark that are kept for each machine, the latest ones."""

Record = dict[str, Any]


def record_of(benchmark: str, results: Sequence[Result], machine: str | None = None) -> Record:
    """A run on this machine, which may have a better name than its processor's."""
    versions = collect_versions()
    used = ", ".join(
        f"{name} {versions[name]}" for name in ("python", "numpy", "scikit-learn", "blas", "kernel")
    )
    name = f"{machine or processor_name()}, {versions['threads']} threads"
    return {
        "benchmark": benchmark,
        "machine": name,
        "used": used,
        "results": [[*result[:3], bool(result.met)] for result in results],
    }


def read_records(path: Path = RECORDS) -> list[Record]:
    """In the order in which they were made."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add_record(record: Record, path: Path = RECORDS) -> None:
    """Add a run, and drop the oldest one of the same benchmark and machine if there are enough."""
    records = [*read_records(path), record]
    same = [place for place, one in enumerate(records) if _subject(one) == _subject(record)]
    kept = [one for place, one in enumerate(records) if place not in same[:-KEPT]]
    path.write_text("".join(json.dumps(one) + "\n" for one in kept))


def _subject(record: Record) -> tuple[str, str]:
    return record["benchmark"], record["machine"]
