"""Bundled example: 800 card transactions, 24 of them unusual in three different ways.

Most columns are irrelevant. The files are written by ``python -m odefs.datasets.transactions
DIRECTORY`` and are part of the package.
"""

import csv
import sys
from importlib.resources import files
from pathlib import Path

SEED = 20200207
N_ROWS, N_EACH = 800, 8
KINDS = ("amount", "place", "burst")
Cell = str | int | float | None


def transactions_path() -> Path:
    """Return the path of the bundled table."""
    return Path(str(files("odefs.datasets") / "files" / "transactions.csv"))


def truth_path() -> Path:
    """Return the path of the file with the kinds of the unusual transactions."""
    return Path(str(files("odefs.datasets") / "files" / "transactions_truth.csv"))


def make_transactions() -> tuple[list[dict[str, Cell]], dict[str, str]]:
    """Return the rows of the table, and the kind of each unusual transaction by its number."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    typical = {
        "grocery": 38,
        "fuel": 55,
        "restaurant": 42,
        "clothing": 70,
        "books": 24,
        "pharmacy": 18,
    }
    rows: list[dict[str, Cell]] = []
    for i in range(N_ROWS):
        category = str(rng.choice(list(typical), p=[0.25, 0.15, 0.2, 0.15, 0.1, 0.15]))
        rows.append(
            {
                "transaction": f"T{i + 1:04d}",
                "amount": round(float(typical[category] * rng.lognormal(0, 0.35)), 2),
                "category": category,
                "country": str(rng.choice(["DE", "FR", "NL", "AT"], p=[0.4, 0.25, 0.2, 0.15])),
                "channel": str(rng.choice(["chip", "contactless", "online"], p=[0.35, 0.35, 0.3])),
                "hour": int(np.clip(round(rng.normal(14.5, 3.2)), 6, 23)),
                "distance_km": round(float(rng.lognormal(1.6, 0.7)), 1),
                "items": int(rng.poisson(4) + 1),
                "minutes_since_last": int(rng.gamma(3, 500)),
                "ab_group": str(rng.choice(["A", "B"])),
                "screen_brightness": round(float(rng.random()), 3),
                "outside_temperature": round(float(rng.normal(11, 6)), 1),
                "server_shard": int(rng.integers(1, 9)),
                "font_size": int(rng.choice([12, 14, 16])),
                "request_ms": round(float(rng.normal(120, 20)), 1),
                "newsletter": str(rng.choice(["yes", "no"])),
            }
        )
    odd = rng.choice(N_ROWS, size=N_EACH * len(KINDS), replace=False)
    truth = {}
    for place, i in enumerate(odd):
        kind, row = KINDS[place // N_EACH], rows[i]
        truth[str(row["transaction"])] = kind
        if kind == "amount":
            row["amount"] = round(float(rng.uniform(500, 1500)), 2)
        elif kind == "place":
            row.update(
                country=str(rng.choice(["SG", "PA"])),
                distance_km=round(float(rng.uniform(7000, 10500)), 1),
                hour=int(rng.integers(1, 5)),
            )
        else:
            row.update(
                items=int(rng.integers(24, 40)),
                channel="online",
                minutes_since_last=int(rng.integers(0, 2)),
            )
    for i in rng.choice(N_ROWS, size=16, replace=False):
        rows[i]["outside_temperature"] = None
    return rows, truth


def write_files(directory: Path) -> None:
    """Write the table and the kinds of its unusual rows."""
    rows, truth = make_transactions()
    with open(directory / "transactions.csv", "w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    with open(directory / "transactions_truth.csv", "w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["transaction", "kind"])
        lines.writerows(sorted(truth.items()))


if __name__ == "__main__":
    write_files(Path(sys.argv[1]))
