"""Files of scores with reasons: ``odefs detect -o`` and ``odefs score -o`` on a mixed csv file.

Ratios are those of processor time, which other work on the machine changes least.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.child_process import Usage, measure_odefs
from benchmarks.result import Result

ROWS = 500_000
MANY = 0.04
"""Share of rows to flag where many of them get reasons."""


def run(share: float = 1.0) -> list[Result]:
    n_rows = int(ROWS * share)
    with tempfile.TemporaryDirectory() as folder:
        mixed_table(n_rows).write_csv(Path(folder) / "table.csv")

        def odefs(*arguments: str | Path) -> Usage:
            return measure_odefs(*arguments, "--quiet", "--force", cwd=folder)

        detect = ("detect", "table.csv", "--no-report")
        screen = odefs(*detect, "--save", "m.odefs")
        some = odefs(*detect, "-o", "scores.csv")
        many = odefs(*detect, "-o", "scores.csv", "--contamination", str(MANY))
        score = ("score", "m.odefs", "table.csv", "-o", "scores.csv")
        none_scored = odefs(*score, "--reasons", "none")
        scored = odefs(*score)
        many_scored = odefs(*score, "--contamination", str(MANY))
    size = f"{n_rows:,} x 20"
    return [
        _ratio(f"odefs detect -o, csv of {size}, against the screen alone", some, screen),
        _ratio(f"odefs detect -o with {MANY:.0%} of the rows flagged", many, screen),
        _ratio(
            "odefs score -o with reasons for flagged rows, against no reasons", scored, none_scored
        ),
        _ratio(f"odefs score -o with {MANY:.0%} of the rows flagged", many_scored, none_scored),
        _rate("odefs score -o, rows a second on two cores, start included", scored, n_rows),
    ]


def _ratio(what: str, with_reasons: Usage, without: Usage) -> Result:
    ratio = with_reasons.cpu_seconds / without.cpu_seconds
    seconds = f"{with_reasons.cpu_seconds:.1f} s, {without.cpu_seconds:.1f} s of processor time"
    return Result(what, f"{ratio:.2f} x ({seconds})", "at most 1.3 x", ratio <= 1.3)


def _rate(what: str, used: Usage, n_rows: int) -> Result:
    rate = n_rows / used.wall_seconds
    seconds = f"{used.wall_seconds:.1f} s, {used.cpu_seconds:.1f} s of processor time"
    return Result(what, f"{rate:,.0f} ({seconds})", "at least 200,000", rate >= 200_000)


def mixed_table(n_rows: int) -> pl.DataFrame:
    """10 measurements, 3 counts, 5 categories, a flag and a time; one row in 300 is unusual."""
    rng = np.random.default_rng(0)
    columns = {f"measure{j}": np.round(rng.normal(50, 10, n_rows), 3) for j in range(10)}
    columns["measure3"][: n_rows // 1000] += 200
    columns["measure5"][rng.integers(0, n_rows, n_rows // 500)] *= 4
    columns["measure1"][rng.random(n_rows) < 0.05] = np.nan
    columns |= {f"count{j}": rng.integers(0, 500, n_rows) for j in range(3)}
    columns |= {
        f"kind{j}": rng.choice([f"value{i}" for i in range(3 + 5 * j)], n_rows) for j in range(5)
    }
    columns["flag"] = rng.random(n_rows) < 0.3
    seconds = rng.integers(0, 10**7, n_rows).astype("timedelta64[s]")
    columns["time"] = np.datetime64("2020-01-01", "ms") + seconds
    return pl.DataFrame(columns).with_columns(pl.col("measure1").fill_nan(None))
