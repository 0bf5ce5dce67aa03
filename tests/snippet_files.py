"""Files that pages name without making them, so that their commands can be run."""

import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

from odefs.datasets.transactions import transactions_path

N_ROWS = 600


def sales(seed=0):
    """A table without outliers, with the columns that the pages name."""
    rng = np.random.default_rng(seed)
    quantity = rng.integers(1, 9, N_ROWS)
    price = rng.uniform(15, 25, N_ROWS).round(2)
    numbers = np.arange(N_ROWS)
    return pl.DataFrame(
        {
            "name": [f"N{k:04d}" for k in numbers],
            "invoice": [f"I{k:04d}" for k in numbers],
            "key": [f"K{k:04d}" for k in numbers],
            "shop": rng.choice(["north", "south", "west"], N_ROWS),
            "weekday": rng.choice(["Mon", "Tue", "Wed"], N_ROWS),
            "quantity": quantity,
            "price": price,
            "amount": (quantity * price).round(2),
            "salary": rng.uniform(2500, 3500, N_ROWS).round(),
            "comment": rng.choice(["ok", "checked", "open"], N_ROWS),
        }
    )


def csv(path, seed=0):
    sales(seed).write_csv(path)


def parquet(path, seed=0):
    sales(seed).write_parquet(path)


def compressed(path):
    import pyarrow as pa

    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(sales().write_csv().encode())


def archive(path, names):
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, sales().write_csv())


def document(path):
    """Two tables under keys."""
    fields = '[{"name": "a", "type": "text"}, {"name": "b", "type": "number"}]'
    path.write_text(f'{{"fields": {fields}, "features": {sales().write_json()}}}')


def sqlite(path):
    table = sales()
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE orders ({', '.join(table.columns)})")
        marks = ", ".join("?" * table.width)
        base.executemany(f"INSERT INTO orders VALUES ({marks})", table.rows())
    base.close()


def duckdb(path):
    import duckdb

    with duckdb.connect(str(path)) as base:
        frame = sales().to_arrow()
        base.register("frame", frame)
        base.execute("CREATE TABLE orders AS SELECT * FROM frame")


def folder_of_parquet(path):
    path.mkdir()
    for name in ("a.parquet", "b.parquet"):
        parquet(path / name)


def folder_of_folders(pattern):
    part = pattern.parent.parent / "2025" / "part.parquet"
    part.parent.mkdir(parents=True, exist_ok=True)
    parquet(part)


def workbook(path):
    """The workbook whose notes the page on files shows."""
    import xlsxwriter

    rng = np.random.default_rng(0)
    header = ["shop", "city", "price", "size", "rooms"]
    rows = [
        [
            f"shop {k % 7}",
            ["Rome", "Oslo", "Bonn"][k % 3],
            *rng.normal(50, 5, 2).round(2),
            k % 5 + 1,
        ]
        for k in range(120)
    ]
    total = ["Total", None, *(round(sum(row[k] for row in rows), 2) for k in (2, 3, 4))]
    lines = [
        ["Prices of 2024"],
        ["Shops and flats"],
        [],
        header,
        [None, None, "EUR", "m2", None],
        *rows,
        total,
        [],
        ["Source: Office of Prices"],
    ]
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("prices")
        for number, line in enumerate(lines):
            sheet.write_row(number, 0, line)
        for name in ("staff", "codes"):
            other = book.add_worksheet(name)
            for number, line in enumerate([header, *rows]):
                other.write_row(number, 0, line)


def diamonds(path):
    """A table with the size, the columns and the faults that the page on values shows."""
    rng = np.random.default_rng(0)
    n_rows = 53_940
    carat = np.clip(np.exp(rng.normal(-0.4, 0.58, n_rows)), 0.2, 4).round(2)
    size = 6.43 * np.cbrt(carat)
    x = np.clip(size + rng.normal(0, 0.05, n_rows), 3.73, 10.7).round(2)
    y = np.clip(size + rng.normal(0, 0.05, n_rows), 3.68, 10.5).round(2)
    z = np.clip(0.62 * size + rng.normal(0, 0.04, n_rows), 2.3, 6.7).round(2)
    depth = rng.normal(61.7, 1.4, n_rows).round(1)
    x[[99, 999]], y[[99, 999]] = (3.73, 10.74), (3.68, 10.54)
    x[[11182, 11963, 15951, 24520, 26243, 27429, 49556, 49557]] = 0
    y[[24067, 49189]] = 58.9, 31.8
    table = {
        "carat": carat,
        "cut": rng.choice(["Fair", "Good", "Very Good", "Premium", "Ideal"], n_rows),
        "color": rng.choice(list("DEFGHIJ"), n_rows),
        "clarity": rng.choice(["IF", "VVS1", "VVS2", "VS1", "VS2", "SI1", "SI2", "I1"], n_rows),
        "depth": depth,
        "table": rng.normal(57.5, 2.2, n_rows).round(),
        "price": (4000 * carat**1.7 * np.exp(rng.normal(0, 0.25, n_rows))).round(),
        **{"x": x, "y": y, "z": z},
    }
    pl.DataFrame(table).write_csv(path)


def arrays(path):
    """Rows and labels of a user's own data."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 12)), np.arange(120) < 8
    X[y, :3] += 5
    np.savez(path, X=X, y=y.astype(int))


def answers(path):
    """What a review of the bundled table leaves."""
    path.write_text("transaction,answer\nT0422,yes\nT0058,yes\nT0737,no\n")


def transactions(path):
    path.write_bytes(transactions_path().read_bytes())


def model(path):
    csv(path.with_name("of_model.csv"))
    line = [sys.executable, "-m", "odefs", "detect", "of_model.csv", "--no-report", "--quiet"]
    subprocess.run([*line, "--save", path.name], cwd=path.parent, check=True, capture_output=True)


MAKERS = {
    **dict.fromkeys(("table.csv", "sales.csv", "good.csv", "january.csv"), csv),
    **dict.fromkeys(("new.csv", "may.csv", "february.csv", "data/new.csv"), csv),
    **dict.fromkeys(("history.parquet", "today.parquet", "big.parquet"), parquet),
    "bigger.parquet": parquet,
    "sales.csv.zst": compressed,
    "sales.zip": lambda path: archive(path, ["sales.csv"]),
    "export.zip": lambda path: archive(path, ["data/sales.csv", "data/staff.csv"]),
    "sales.json": lambda path: sales().write_json(path),
    "map.json": document,
    "shop.sqlite": sqlite,
    "shop.duckdb": duckdb,
    "DIR": folder_of_parquet,
    "DIR/*/*.parquet": folder_of_folders,
    "prices.xlsx": workbook,
    "transactions.answers.csv": answers,
    "model.odefs": model,
    "transactions.csv": transactions,
    "diamonds.csv": diamonds,
    "mine.npz": arrays,
}
"""What makes each file; a model is made only if no command of the page has saved one."""

OF_PAGES = {("docs/how-to/review.md", "new.csv"): transactions}
"""Files that look different on one page: its model is of the bundled table."""
OUTPUTS = {"--save", "-o", "--metrics", ">"}


def prepare(page: str, command: str, folder: Path) -> None:
    """Make the files that a command reads, and remove those that it writes.

    Commands of a page stand for themselves: none replaces what another one has written.
    """
    for report in folder.glob("*.outliers.html"):
        report.unlink()
    words = command.replace("'", "").split()
    for before, name in zip(["", *words], words, strict=False):
        target = folder / name
        if before in OUTPUTS:
            if not target.is_dir():
                target.unlink(missing_ok=True)
        elif name in MAKERS and not target.exists():
            if "*" not in name:
                target.parent.mkdir(parents=True, exist_ok=True)
            OF_PAGES.get((page, name), MAKERS[name])(target)
