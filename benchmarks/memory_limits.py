"""Peak memory under ``ODEFS_MEMORY``: ``python -m benchmarks.memory_limits``.

Prints the table in docs/explanation/large-tables.md.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

ROWS, COLUMNS = 1_000_000, 10
LIMITS = (400, 600, 1200)
CHILD = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 // 10**6)
"""


def main() -> None:
    """One line per kind of file and limit, with the largest resident memory of ``odefs detect``."""
    odefs = Path(sys.executable).parent / "odefs"
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{k}": rng.normal(size=ROWS).round(4) for k in range(COLUMNS)})
    print("| limit | csv | parquet | ndjson |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("csv", "parquet", "ndjson"):
            getattr(frame, f"write_{kind}")(Path(folder) / f"t.{kind}")
        del frame
        for limit in LIMITS:
            peaks = [_peak(odefs, folder, kind, limit) for kind in ("csv", "parquet", "ndjson")]
            print(f"| {limit:,} MB | {' | '.join(peaks)} |", flush=True)


def _peak(odefs: Path, folder: str, kind: str, limit: int) -> str:
    from odefs.cli.run import is_large

    environment = {**os.environ, "ODEFS_MEMORY": f"{limit}MB"}
    line = [
        sys.executable,
        "-c",
        CHILD,
        str(odefs),
        "detect",
        f"t.{kind}",
        "--quiet",
        "--no-report",
    ]
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    status, peak = map(int, done.stdout.split())
    os.environ["ODEFS_MEMORY"] = f"{limit}MB"
    how = "in parts" if is_large(f"{folder}/t.{kind}") else "at once"
    return f"{peak:,} MB, {how}" if status == 0 else f"exit code {status}"


if __name__ == "__main__":
    main()
