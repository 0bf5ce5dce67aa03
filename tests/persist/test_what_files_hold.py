"""What a model file reveals: no cell of unused columns, and only header parts in SECURITY.md."""

from pathlib import Path

import numpy as np
import pandas as pd

import odefs
from command import odefs as run
from locations import ROOT
from odefs.persist.reading import read_file
from odefs.tables.records.notes import Note

N = 300


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "cust": [f"customer-{i:04d}" for i in range(N)],
            "secretcol": [f"secret-{i % 7}" for i in range(N)],
            "amount": rng.normal(100, 5, N).round(3),
            "paid": [
                *(f"{x:.2f}".replace(".", ",") for x in rng.normal(50, 2, N - 1)),
                "JANE ROE owes 7",
            ],
            "ssn": [
                *[None] * 200,
                *(str(100 + i % 30) for i in range(N - 201)),
                "JOHN DOE 123-45-6789",
            ],
            "mixed": [
                *[None] * 200,
                *(f"{4000 + i}" if i % 2 else f"plate-{i}" for i in range(N - 200)),
            ],
            "letter": [f"Dear madam, this is letter {i}" for i in range(N)],
            "same": ["one and only"] * N,
        }
    )


def cells_in(path, frame, names):
    held = Path(path).read_bytes()
    cells = {str(cell) for name in names for cell in frame[name].dropna()}
    return sorted(cell for cell in cells if cell.encode() in held)


def save_on_command_line(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    chosen = ("--id", "cust", "--drop", "secretcol", "--save", "c.odefs", "--no-report")
    done = run("detect", "t.csv", *chosen, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "c.odefs"


def test_no_cell_of_a_column_that_is_not_used_is_in_the_file(tmp_path):
    frame = table()
    found = odefs.detect(frame, id="cust", drop=["secretcol"])
    assert set(found.left_out) == {"ssn", "mixed", "letter", "same"}
    assert any("JOHN DOE" in str(note) for note in found.notes), "it is quoted on the screen"
    found.save(tmp_path / "m.odefs")
    unused = [*found.left_out, "cust", "secretcol"]
    # Three digits occur in any file of numbers.
    long = frame[unused].map(lambda cell: cell if cell is not None and len(str(cell)) > 4 else None)
    assert cells_in(tmp_path / "m.odefs", long, unused) == []
    saved = save_on_command_line(frame, tmp_path)
    assert cells_in(saved, long, unused) == []


def test_notes_in_a_file_quote_no_cell(tmp_path):
    found = odefs.detect(table(), id="cust", drop=["secretcol"])
    assert "paid" in found.encoder.columns
    assert any("JANE ROE" in str(note) for note in found.notes)
    found.save(tmp_path / "m.odefs")
    assert b"JANE ROE" not in (tmp_path / "m.odefs").read_bytes()
    assert odefs.load(tmp_path / "m.odefs")[0].notes_ == [
        Note("text_format", "paid", format="numbers with decimal comma")
    ]


def test_the_parts_of_a_file_are_those_that_the_security_page_lists(tmp_path):
    """A new part is to be thought about, and told in SECURITY.md."""
    saved = save_on_command_line(table(), tmp_path)
    extra = read_file(saved)[0]["extra"]
    assert {part: sorted(extra[part]) for part in ("encoder", "source", "run")} == {
        "encoder": ["columns", "left_out", "parameters", "specs"],
        "source": ["bytes", "columns", "name", "rows", "sha256"],
        "run": ["command", "parameters", "resolved", "seed", "versions"],
    }
    assert sorted(extra) == [
        "encoder",
        "flagged_share",
        "hidden",
        "identifier",
        "run",
        "shares_above",
        "source",
        "training",
    ]
    assert sorted(extra["training"]) == ["counts", "n_rows"]
    assert extra["source"]["name"] == "t.csv"
    assert "--drop secretcol" in extra["run"]["command"]
    page = " ".join((ROOT / "SECURITY.md").read_text().split())
    for said in (
        "whole command line",
        "file name",
        "SHA-256",
        "every value that has a column of its own",
        "median",
        "shares above",
        "up to 257 of its values",
        "256 ordinary rows",
    ):
        assert said in page
