"""File names that are patterns, addresses, very long or not text; text in any locale."""

import gzip
import json
import os
import sys

import polars as pl
import pytest

from command import odefs
from odefs.cli.outputs import default_page
from opening import read_in_memory, read_in_parts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")

STEMS = (
    "b[1]",
    "a*b",
    "a?b",
    "~x",
    "a b",
    "a\nb",
    os.fsdecode(b"n\xe4"),
    "{a,b}",
    "^a$",
    "http:x",
    "*",
)
KINDS = {"arrow": "ipc", "xlsx": "excel"}
QUICK = ("detect", "--no-report", "--quiet", "--set", "n_estimators=2")


def write(frame, path):
    """The table in the form of the name's ending, under names that polars would not write to."""
    with open(path, "wb") as file:
        if path.name.endswith(".csv.gz"):
            file.write(gzip.compress(frame.write_csv().encode()))
        else:
            ending = path.suffix[1:]
            getattr(frame, "write_" + KINDS.get(ending, ending))(file)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "ndjson", "arrow", "xlsx"])
def test_every_name_is_that_of_one_file(ending, tmp_path, monkeypatch):
    """All in one folder, where a pattern would match others; each has its own number of rows."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path.parent / f"{tmp_path.name} work"
    for number, stem in enumerate(STEMS, start=20):
        frame = pl.DataFrame({"a": list(range(number)), "t": [f"x{i % 2}" for i in range(number)]})
        write(frame, tmp_path / f"{stem}.{ending}")
    for number, stem in enumerate(STEMS, start=20):
        assert read_in_memory(f"{stem}.{ending}").n_rows == number
        if ending != "xlsx":
            (folder / str(number)).mkdir(parents=True)
            assert read_in_parts(f"{stem}.{ending}", folder / str(number)).n_rows == number


@pytest.mark.slow
@pytest.mark.parametrize("in_parts", ["0", "1"])
@pytest.mark.parametrize("name", ["b[1].csv", os.fsdecode(b"n\xe4.parquet"), "a?b.ndjson"])
def test_the_command_reads_and_writes_them(name, in_parts, tmp_path):
    frame = pl.DataFrame({"a": [*range(79), 9000], "t": [f"x{i % 2}" for i in range(80)]})
    write(frame, tmp_path / name)
    output = f"{name[:-1]}_out.csv"
    done = odefs(*QUICK, name, "-o", output, cwd=tmp_path, ODEFS_IN_PARTS=in_parts)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {name, output}
    with open(tmp_path / output, "rb") as file:
        assert pl.read_csv(file.read()).height == 80


def test_a_folder_of_such_files_is_scored(tmp_path):
    """Twice: existing outputs are read the second time."""
    frame = pl.DataFrame({"a": [*range(79), 9000], "t": [f"x{i % 2}" for i in range(80)]})
    (tmp_path / "in").mkdir()
    names = [os.fsdecode(b"\xff.parquet"), "b[1].parquet"]
    for name in names:
        write(frame, tmp_path / "in" / name)
    write(frame, tmp_path / "t.csv")
    assert odefs(*QUICK, "t.csv", "--save", "m.odefs", cwd=tmp_path).returncode == 0
    run = ("score", "m.odefs", "in", "-o", "out", "--json")
    for written in (2, 0):
        done = odefs(*run, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["written"], found["skipped"], found["rows"]) == (written, 2 - written, 160)
        assert {path.name for path in (tmp_path / "out").iterdir()} == set(names)
    (tmp_path / "in" / names[0]).unlink()
    done = odefs(*run, cwd=tmp_path)
    assert json.loads(done.stdout)["without_input"] == names[:1]


@pytest.mark.slow
def test_names_as_long_as_the_system_has_them(tmp_path):
    name = "ü" * 125 + "z.csv"
    assert len(os.fsencode(name)) == 255
    (tmp_path / name).write_text("a,b\n" + "1,2\n3,4\n" * 30 + "900,7\n")
    output, model = "o" * 251 + ".csv", "m" * 255
    done = odefs(
        "detect", name, "-o", output, "--save", model, "--set", "n_estimators=2", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    page = str(default_page(name))
    assert {path.name for path in tmp_path.iterdir()} == {name, output, model, page}
    assert page.endswith(".outliers.html")
    assert odefs("detect", name, cwd=tmp_path).returncode == 0, (
        "an earlier page of the same table is replaced"
    )


def test_a_name_that_is_too_long_is_refused_before_the_work(tmp_path):
    done = odefs("detect", "-o", "o" * 252 + ".csv", "--no-report", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert not list(tmp_path.iterdir())


def test_a_folder_for_temporary_files_that_is_not_there(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n3,4\n" * 30 + "900,7\n")
    nowhere = str(tmp_path / "nowhere")
    done = odefs(*QUICK, "t.csv", "-o", "o.csv", cwd=tmp_path, TMPDIR=nowhere, ODEFS_IN_PARTS="1")
    assert done.returncode == 1
    assert nowhere in done.stderr
    assert "TMPDIR" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv"}
    done = odefs(*QUICK, "t.csv", "-o", "o.csv", cwd=tmp_path, TMPDIR=nowhere)
    assert done.returncode == 0, "a table that fits into memory needs none"


LOCALES = {
    "C": {"LC_ALL": "C"},
    "POSIX without UTF-8 mode": {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII streams": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"},
}
ASCII_ONLY = "ASCII"
TABLE = (
    "größe,İI,name\n" + "".join(f"{i % 7},{i % 5},zürich{i}\n" for i in range(60)) + "900,77,łódź\n"
)


@pytest.mark.parametrize(
    "locale",
    [pytest.param(name, marks=() if name == ASCII_ONLY else pytest.mark.slow) for name in LOCALES],
)
def test_letters_survive_any_locale(locale, tmp_path):
    """On the screen, in csv, JSON and the page, in column options, and in errors."""
    name = os.fsdecode("täble.csv".encode())
    (tmp_path / name).write_text(TABLE, encoding="utf-8")

    def run(*arguments):
        # As bytes: what is compared is what was written.
        line = [os.fsencode(argument) for argument in arguments]
        return odefs(*map(os.fsdecode, line), cwd=tmp_path, stdin=b"", **LOCALES[locale])

    quick = ("--set", "n_estimators=2")
    done = run(
        "detect",
        name,
        "--id",
        "name",
        "--category",
        "größe",
        "--report",
        "r.html",
        "-o",
        "o.csv",
        *quick,
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert all(word in shown for word in ("täble.csv", "łódź", "İI = 77"))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert all(word in page for word in ("täble.csv", "łódź", "größe", "İI"))
    assert "łódź" in (tmp_path / "o.csv").read_text(encoding="utf-8")
    done = run("detect", name, "--drop", "größe", "--json", *quick)
    summary = json.loads(done.stdout.decode())
    assert summary["source"]["name"] == "täble.csv"
    done = run("detect", name, "--drop", "grün", "--hide", "nö", *quick)
    assert done.returncode == 1
    assert "täble.csv" in done.stderr.decode()
    assert "nö" in done.stderr.decode()
