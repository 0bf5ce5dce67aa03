"""``odefs detect`` and what it leaves behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import odefs.cli.terminal.progress as progressing
from command import ODEFS, messages, odefs, read
from odefs import LeSiNN
from odefs import detect as library_detect
from odefs._progress import report_progress, stage
from odefs.cli.commands.datasets import command as datasets
from odefs.cli.commands.detect import command as detect
from odefs.cli.commands.explain import _by_id, _by_number
from odefs.cli.commands.reproduce import command as reproduce
from odefs.cli.commands.score import command as score
from odefs.cli.outputs import default_page, is_own_page
from odefs.cli.run import named_errors
from odefs.datasets.transactions import transactions_path, truth_path
from odefs.exceptions import TableError
from odefs.tables.records.notes import Note

TABLE = transactions_path()


def test_the_example_shows_the_planted_transactions(tmp_path):
    done = odefs("detect", "-o", "scores.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "T0422" in done.stdout
    assert "distance_km = 9500.3" in done.stdout
    assert "Report: transactions.outliers.html" in done.stdout
    truth = {row["transaction"] for row in read(truth_path())}
    scores = read(tmp_path / "scores.csv")
    assert len(scores) == 800
    top = {row["transaction"] for row in scores if int(row["rank"]) <= len(truth)}
    assert len(top & truth) >= 0.9 * len(truth)
    assert {path.name for path in tmp_path.iterdir()} == {
        "scores.csv",
        "transactions.outliers.html",
    }


@pytest.mark.slow
def test_the_same_command_leaves_the_same_bytes(tmp_path):
    command = (
        "detect",
        TABLE,
        "--id",
        "transaction",
        "-o",
        "s.csv",
        "--save",
        "m.odefs",
        "--report",
        "r.html",
        "--force",
    )
    contents = []
    for _ in range(2):
        odefs(*command, cwd=tmp_path)
        contents.append([(tmp_path / name).read_bytes() for name in ("s.csv", "m.odefs", "r.html")])
    assert contents[0] == contents[1]
    odefs(
        "detect",
        TABLE,
        "--id",
        "transaction",
        "--jobs",
        1,
        "-o",
        "one.csv",
        "--no-report",
        cwd=tmp_path,
    )
    assert (tmp_path / "one.csv").read_bytes() == contents[0][0]
    odefs(
        "detect",
        TABLE,
        "--id",
        "transaction",
        "--seed",
        1,
        "-o",
        "other.csv",
        "--no-report",
        cwd=tmp_path,
    )
    assert (tmp_path / "other.csv").read_bytes() != contents[0][0]


def test_what_was_recognised_and_left_out_is_said(tmp_path):
    rows = "".join(f'{i + 1},1,,0{i % 9},"{i % 7},5",{i * i % 17}\n' for i in range(40))
    (tmp_path / "t.csv").write_text("number,same,empty,zip,comma,x\n" + rows)
    shown = odefs("detect", "t.csv", "--no-report", cwd=tmp_path).stdout
    assert "Left out: number (counts the rows)" in shown
    assert "Left out: same (one value)" in shown
    assert "Left out: empty (empty)" in shown
    assert str(Note("leading_zeros", "zip")) in shown
    assert str(Note("text_format", "comma", format="numbers with decimal comma")) in shown


def test_dropped_columns_give_no_reasons(tmp_path):
    done = odefs(
        "detect",
        TABLE,
        "--id",
        "transaction",
        "--drop",
        "country",
        "--drop",
        "distance_km",
        "--no-report",
        cwd=tmp_path,
    )
    assert "Left out: country, distance_km (dropped as requested)" in done.stdout
    assert "country = " not in done.stdout
    assert "amount = " in done.stdout


def test_square_brackets_are_no_markup_and_nothing_is_coloured_in_a_pipe(tmp_path):
    rows = (
        "".join(f"[/x{i}],{i % 7},{(i * 13) % 11}\n" for i in range(60)) + "[red]odd[/red],900,3\n"
    )
    (tmp_path / "t.csv").write_text("name,weight [kg],b\n" + rows)
    done = odefs("detect", "t.csv", "--id", "name", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[red]odd[/red]" in done.stdout
    assert "weight [kg] = 900" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_width_of_the_terminal_is_honoured(tmp_path):
    done = odefs("detect", "--no-report", cwd=tmp_path, COLUMNS="60")
    assert max(map(len, done.stdout.splitlines())) <= 60


def test_identical_rows_are_shown_once_with_their_number(tmp_path):
    (tmp_path / "t.csv").write_text(
        "a,b\n" + "".join(f"{i % 5},{i % 3}\n" for i in range(60)) + "99,99\n" * 4
    )
    assert "61 and 3 more" in odefs("detect", "t.csv", "--no-report", cwd=tmp_path).stdout


def test_quiet_is_quiet_and_json_is_json(tmp_path):
    assert odefs("detect", "--no-report", "--quiet", cwd=tmp_path).stdout == ""
    done = odefs("detect", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    text = json.dumps(summary)
    for recorded in ("sha256", "seed", "scikit-learn", "odefs detect --json", "T0422"):
        assert recorded in text
    assert list(tmp_path.iterdir()) == []


def test_standard_input_and_output(tmp_path):
    done = odefs(
        "detect", "-", "--id", "transaction", "-o", "-", cwd=tmp_path, stdin=TABLE.read_bytes()
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        b"transaction,row,line,score,rank,percentile,agreement,outlier,kind,reasons,checks\nT0001,1,2,"
    )
    assert len(done.stdout.splitlines()) == 801
    assert list(tmp_path.iterdir()) == []


def test_reasons_and_input_columns_in_the_output(tmp_path):
    base = ("detect", "--no-report", "--flag", 5, "--force", "-o", "o.csv")
    odefs(*base, cwd=tmp_path)
    rows = read(tmp_path / "o.csv")
    assert [bool(row["reasons"]) for row in rows] == [row["outlier"] == "yes" for row in rows]
    assert sum(row["outlier"] == "yes" for row in rows) == 5
    odefs(*base, "--reasons", "all", "--with-data", "--hide", "country", cwd=tmp_path)
    rows = read(tmp_path / "o.csv")
    assert sum(bool(row["reasons"]) for row in rows) > 700
    assert rows[0]["amount"]
    assert "country" not in rows[0]
    assert "country = (hidden)" in "".join(row["reasons"] for row in rows)
    assert "country = SG" not in (tmp_path / "o.csv").read_text()
    odefs(*base, "--reasons", "none", cwd=tmp_path)
    assert "reasons" not in read(tmp_path / "o.csv")[0]


@pytest.mark.slow
def test_labels_only_measure(tmp_path):
    truth = {row["transaction"] for row in read(truth_path())}
    frame = pl.read_csv(TABLE)
    labelled = frame.with_columns(odd=pl.col("transaction").is_in(truth).cast(int))
    labelled.write_csv(tmp_path / "t.csv")
    frame.write_csv(tmp_path / "plain.csv")
    base = (
        "detect",
        "t.csv",
        "--id",
        "transaction",
        "--label",
        "odd",
        "--report",
        "r.md",
        "-o",
        "a.csv",
    )
    said = odefs(*base, cwd=tmp_path).stdout
    assert "Against the labels: AUC 1.000" in said or "Against the labels: AUC 0.99" in said
    assert "Against the labels: AUC" in (tmp_path / "r.md").read_text()
    measured = json.loads(
        odefs("detect", "t.csv", "--label", "odd", "--json", cwd=tmp_path).stdout
    )["labels"]
    assert measured["auc"] > 0.99
    assert set(measured) >= {"auc", "ap", "p@k"}
    odefs("detect", "plain.csv", "--id", "transaction", "--no-report", "-o", "b.csv", cwd=tmp_path)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_settings_reach_the_model(tmp_path):
    base = (
        "detect",
        "--json",
        "--profile",
        "paper",
        "--set",
        "n_estimators=3",
        "--set",
        "selection__metric=euclidean",
    )
    run = json.loads(odefs(*base, cwd=tmp_path).stdout)["run"]
    parameters = run["parameters"]
    assert run["resolved"]["n_components"] == 3
    assert run["resolved"]["n_outlier_examples"] > 0
    assert parameters["n_estimators"] == 3
    assert parameters["selection__metric"] == "euclidean"
    assert parameters["scaling"] == "minmax"
    done = odefs("detect", "--set", "nonsense=3", cwd=tmp_path)
    assert done.returncode == 2
    assert "ODEFS has no parameter 'nonsense'" in done.stderr
    done = odefs("detect", "--set", "l1=3", cwd=tmp_path)
    assert "Did you mean 'selection__l1'?" in done.stderr


@pytest.mark.slow
def test_files_are_not_replaced_unless_asked(tmp_path):
    (tmp_path / "o.csv").write_text("mine")
    done = odefs("detect", "-o", "o.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "o.csv: the file exists; --force replaces it." in done.stderr
    assert (tmp_path / "o.csv").read_text() == "mine"
    (tmp_path / "transactions.outliers.html").write_text("my own page")
    assert odefs("detect", cwd=tmp_path).returncode == 1
    assert odefs("detect", "--force", "-o", "o.csv", cwd=tmp_path).returncode == 0
    assert odefs("detect", cwd=tmp_path).returncode == 0, "its own page it may replace"


BAD = {
    "no such file": (None, [], "there is no such file"),
    "no such folder": (None, ["-o", "scores"], "no such folder: there is no such file"),
    "a folder": ("", [], "there is no parquet file in this folder"),
    "empty.csv": ("", [], "the file is empty"),
    "header.csv": ("a,b\n", [], "at least two rows"),
    "ragged.csv": ("a,b\n1,2\n1,2,3\n", [], "line 3 has 3 fields"),
    "constant.csv": ("a\n1\n1\n1\n", [], "no column is left"),
    "delimited.csv": ("a,b\nx,2\ny,4\nz,7\n", ["--delimiter", ";"], "without --delimiter"),
    "column.csv": (
        "a,b\n1,2\n3,4\n",
        ["--id", "z"],
        "there is no column 'z'; the columns are a, b",
    ),
    "label.csv": (
        "a,b\n1,2\n3,4\n5,5\n",
        ["--label", "b"],
        "labels must be 0",
    ),
    "unwritable.csv": (
        "a,b\n1,2\n3,4\n",
        ["-o", "nowhere/o.csv"],
        "nowhere/o.csv: cannot be written",
    ),
    "ending.csv": ("a,b\n1,2\n3,4\n", ["-o", "o.docx"], "the name must end in one of"),
}


@pytest.mark.parametrize("name", BAD)
def test_unusable_data_exits_1_with_one_sentence(name, tmp_path):
    content, arguments, sentence = BAD[name]
    if name == "a folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_text(content)
    done = odefs("detect", name, *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(messages(done)) == 1
    assert {path.name for path in tmp_path.iterdir()} <= {name}


@pytest.mark.parametrize("rows", ["1" * 5000, "1-" + "9" * 5000, "0" * 5000 + "-3"])
def test_rows_with_more_digits_than_python_reads_do_not_exist(rows):
    with pytest.raises(TableError):
        list(_by_number([rows], 9))
    with pytest.raises(TableError):
        list(_by_id([rows], "id", range(9)))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_a_reference_may_have_a_name_that_is_not_utf8(tmp_path):
    name = os.fsdecode(b"clean\xff.csv")
    (tmp_path / name).write_bytes(TABLE.read_bytes())
    fit = ("detect", TABLE, "--save", "m.odefs", "--no-report", "--set", "n_estimators=2")
    assert odefs(*fit, cwd=tmp_path).returncode == 0
    done = odefs("score", "m.odefs", TABLE, "--reference", name, "-o", "s.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "p_value" in read(tmp_path / "s.csv")[0]


def test_options_with_any_path_leave_it_to_the_command_to_check_it(tmp_path):
    """Standard output, an address, a file that is not there and a folder stay as they are."""
    types = {one.name: one.type for one in score.params}
    for name in ("output", "reference"):
        for path in ("-", "https://host/t.csv", "gone/t.csv", str(tmp_path)):
            assert types[name].convert(path, None, None) == path


def test_wrong_usage_exits_2_and_a_traceback_comes_only_when_asked(tmp_path):
    assert odefs("detect", "--top", "none", cwd=tmp_path).returncode == 2
    assert odefs("dtect", cwd=tmp_path).returncode == 2
    assert odefs("detect", "--seed", "-1", cwd=tmp_path).returncode == 2
    done = odefs("detect", "gone.csv", "--debug", cwd=tmp_path)
    assert "Traceback" in done.stderr


WRONG = {
    "two ways to flag": (
        ["--flag", "3", "--threshold", "2"],
        "--threshold and --flag are mutually exclusive",
    ),
    "share": (["--contamination", "0.9"], "0.9 is not in the range"),
    "threshold": (["--threshold", "nan"], "nan must be a finite number"),
    "setting": (
        ["--set", "n_estimators=-3"],
        "or a whole number of at least 1",
    ),
    "delimiter": (["--delimiter", "::"], "'::' is not a single ASCII character"),
    "standard output twice": (
        ["-o", "-", "--json"],
        "-o - and --json both write to standard output",
    ),
    "one target twice": (["--report", "x.json", "--save", "./x.json"], "x.json is given twice"),
    "the input": (["-o", "gone.csv", "--force"], "gone.csv is given twice"),
}


def test_a_table_in_place_of_the_model_is_named_as_such(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for command in (("score",), ("explain",), ("report", "-o", "r.html")):
        done = odefs(*command, "t.csv", "t.csv", cwd=tmp_path)
        assert done.returncode == 1
        assert "not an odefs model file" in " ".join(done.stderr.split())
    done = odefs("score", "t.csv", "t.csv", "-o", "t.csv", cwd=tmp_path)
    assert done.returncode == 2


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_meant_is_refused_before_the_file_is_opened(name, tmp_path):
    arguments, sentence = WRONG[name]
    done = CliRunner().invoke(
        detect,
        [str(tmp_path / "gone.csv"), *(a.replace("gone", f"{tmp_path}/gone") for a in arguments)],
    )
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.replace(f"{tmp_path}/", "").split())


def test_labels_are_checked_before_the_fit(tmp_path, monkeypatch):
    monkeypatch.setattr("odefs.estimators.ODEFS.fit", None)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n5,5\n")
    done = CliRunner().invoke(detect, [str(tmp_path / "t.csv"), "--label", "b", "--no-report"])
    assert done.exit_code == 1
    assert "labels must be 0" in done.output


@pytest.mark.slow
def test_hidden_values_are_shown_nowhere(tmp_path):
    rows = "".join(
        f"Anna{i},K{i % 7}\u00a0{i % 3},{-999 if i < 4 else i % 11},{i % 5}\n" for i in range(80)
    )
    (tmp_path / "t.csv").write_text("name,code,n,x\n" + rows + "Zoltan,Quito9,3,900\n")
    base = ("detect", "t.csv", "--id", "name", "--hide", "name", "--hide", "n", "--hide", "code")
    done = odefs(
        *base, "-o", "o.csv", "--report", "r.html", "--save", "m.odefs", "--with-data", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "including the values of code, n" in done.stdout
    (tmp_path / "new.csv").write_text("name,code,n,x\nZoltan,Quito8,3,900\n")
    scored = odefs("score", "m.odefs", "new.csv", cwd=tmp_path)
    assert "code: 100.00% of the rows with categories not seen in training\n" in scored.stdout
    outputs = [
        done.stdout,
        scored.stdout,
        (tmp_path / "o.csv").read_text(),
        (tmp_path / "r.html").read_text(),
    ]
    outputs.append(odefs("score", "m.odefs", "new.csv", "--json", cwd=tmp_path).stdout)
    outputs.append(odefs("explain", "m.odefs", "new.csv", "--json", cwd=tmp_path).stdout)
    outputs.append(odefs("explain", "m.odefs", "new.csv", "--rows", "1", cwd=tmp_path).stdout)
    for output in outputs:
        assert output
        for value in ("Anna", "Zoltan", "Quito", "-999"):
            assert value not in output
    done = odefs("score", "m.odefs", "new.csv", "--hide", "nosuch", cwd=tmp_path)
    assert done.returncode == 1
    assert "there is no column 'nosuch'" in done.stderr


@pytest.mark.slow
def test_a_pipe_gets_whole_lines_any_encoding_and_may_be_closed(tmp_path):
    rows = (
        "".join(f"{i % 7},{(i * 13) % 11},x\n" for i in range(60))
        + "900,3,x\n"
        + "3,3,gr\u00fcn \x1b[31mred\x07\n"
    )
    name = " ".join(["long name"] * 12)
    (tmp_path / "t.csv").write_text(f"{name},b,c\n" + rows)
    command = f"unset COLUMNS; {ODEFS} detect t.csv --no-report"
    shown = odefs("-c", command, command=("bash",), cwd=tmp_path, PYTHONIOENCODING="cp1251")
    assert shown.returncode == 0, shown.stderr
    first = next(line for line in shown.stdout.splitlines() if line.startswith("   1 "))
    assert f"{name} = 900" in first
    assert "c = gr\\xfcn [31mred" in shown.stdout
    assert "\x1b" not in shown.stdout
    closed = (
        f"set -o pipefail; {ODEFS} detect t.csv --no-report | head -1; {ODEFS} detect t.csv "
        "--json | head -c 1"
    )
    done = odefs("-c", closed, command=("bash",), cwd=tmp_path)
    assert (done.returncode, messages(done)) == (0, [])
    # A reader that is gone before anything is written.
    done = odefs(
        "-c",
        f"set -o pipefail; {ODEFS} detect t.csv --no-report | true",
        command=("bash",),
        cwd=tmp_path,
    )
    assert (done.returncode, messages(done)) == (0, [])


def test_the_page_is_named_after_the_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "months").mkdir()
    names = {
        "sales.2024.csv": "sales.2024",
        "x.csv.gz": "x",
        "X.CSV": "X",
        "a/part-*.parquet": "table",
        "months/": "months",
        "months/.": "months",
        "data": "data",
        ".csv": ".csv",
    }
    assert {file: default_page(file).name for file in names} == {
        f: f"{n}.outliers.html" for f, n in names.items()
    }


def test_a_page_about_another_table_is_not_replaced(tmp_path):
    page = tmp_path / "t.outliers.html"
    head = (
        '<meta name="generator" content="odefs">\n<meta name="odefs-source" content="a &amp; '
        '&#34;b&#34;.csv">'
    )
    page.write_text(head)
    assert is_own_page(page, 'a & "b".csv')
    assert not is_own_page(page, "b.csv")
    page.write_text(head.splitlines()[1])
    assert not is_own_page(page, 'a & "b".csv')


def test_data_sets_are_made_whole_or_not_at_all(tmp_path):
    def make(*arguments):
        return CliRunner().invoke(datasets, ["make", "shifted", *map(str, arguments)])

    assert (
        make("-o", tmp_path / "t.npz", "--rows", 20, "--columns", 3, "--relevant", 2).exit_code == 0
    )
    assert np.load(tmp_path / "t.npz")["X"].shape == (20, 3)
    assert make("-o", tmp_path / "t.npz").exit_code == 1, "it exists"
    gone = make("-o", tmp_path / "nowhere" / "t.npz")
    assert gone.exit_code == 1
    assert "cannot be written" in gone.output
    assert make("-o", tmp_path / "u.npz", "--rows", -5).exit_code == 2
    assert (
        "--relevant 9 is larger"
        in make("-o", tmp_path / "u.npz", "--columns", 3, "--relevant", 9).output
    )
    assert [path.name for path in tmp_path.iterdir()] == ["t.npz"]


def test_experiments_ask_for_their_folder_before_they_begin(tmp_path):
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(
        reproduce, ["theorem", "--jobs", "1", "-o", str(tmp_path / "file" / "results")]
    )
    assert done.exit_code == 1
    assert done.output.startswith(f"odefs: {tmp_path}/file")
    assert "Traceback" not in done.output


def test_a_stage_that_says_nothing_for_long_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(progressing, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progressing, "TICK", 0.01)
    with progressing.progress(quiet=False), stage("reading"):
        report_progress(0, 0)
        monkeypatch.setattr(progressing, "PLAIN_INTERVAL", 0.01)
        time.sleep(0.2)
    assert capsys.readouterr().err.count("[progress] reading ...\n") > 1


@pytest.mark.slow
def test_a_table_of_ten_thousand_columns(tmp_path):
    rows = [",".join(str((i * j) % 7) for j in range(10_000)) for i in range(1, 21)]
    (tmp_path / "t.csv").write_text(
        ",".join(f"c{j}" for j in range(10_000)) + "\n" + "\n".join(rows) + "\n"
    )
    done = odefs("detect", "t.csv", "--no-report", "--top", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "20 rows" in done.stdout


def test_a_named_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = [ODEFS, "detect", "pipe", "--id", "transaction", "--no-report", "-o", "o.csv"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as running:
        (tmp_path / "pipe").write_bytes(TABLE.read_bytes())
        running.communicate(timeout=120)
    assert running.returncode == 0
    assert len(read(tmp_path / "o.csv")) == 800


@pytest.mark.parametrize(
    "kill", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name
)
def test_a_stopped_run_leaves_no_half_file(kill, tmp_path):
    frame = pl.DataFrame({f"c{j}": [(i * (j + 3)) % 97 for i in range(60_000)] for j in range(30)})
    frame.write_parquet(tmp_path / "t.parquet")
    command = [
        ODEFS,
        "detect",
        "t.parquet",
        "-o",
        "o.csv",
        "--save",
        "m.odefs",
        "--set",
        "n_estimators=9000",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        running.stderr.readline()  # It is at work as soon as it says how far it is.
        time.sleep(0.5)
        running.send_signal(kill)
        _, errors = running.communicate(timeout=60)
    assert running.returncode != 0
    assert {path.name for path in tmp_path.iterdir()} == {"t.parquet"}
    if kill is signal.SIGINT:
        assert running.returncode == 130
        assert "Traceback" not in errors


def test_detect_and_score_take_the_same_options_for_the_report(tmp_path):
    found = library_detect(
        pl.DataFrame({"a": [*range(60), 900], "b": [i % 7 for i in range(61)]}),
        model=LeSiNN(random_state=0),
    )
    found.save(tmp_path / "m.odefs")
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    model, table = str(tmp_path / "m.odefs"), str(tmp_path / "t.csv")
    assert CliRunner().invoke(score, [model, table, "--no-report", "--quiet"]).exit_code == 0
    both = ["--no-report", "--report", str(tmp_path / "r.html")]
    assert CliRunner().invoke(score, [model, table, *both]).exit_code == 2
    assert CliRunner().invoke(detect, [table, *both]).exit_code == 2
    options = [
        {o.name: o.opts for o in command.params if "report" in o.name}
        for command in (detect, score)
    ]
    assert options[0] == options[1]
    assert {path.name for path in tmp_path.iterdir()} == {"m.odefs", "t.csv"}


IMPATIENT = """
import odefs.cli.terminal.progress as progress
progress.QUIET_SECONDS = progress.NEW_STAGE_INTERVAL = progress.PLAIN_INTERVAL = 0
from odefs.cli.main import main
main()
"""
"""The command as it is on a machine so busy that all work takes long."""


def test_long_work_says_how_far_it_is(tmp_path):
    line = ("detect", "--no-report", "--set", "n_estimators=40", "--jobs", 1)
    done = odefs(*line, command=(sys.executable, "-c", IMPATIENT), cwd=tmp_path)
    assert done.returncode == 0
    stages = "learning which columns matter|scoring on (all|the selected) columns|fitting"
    assert re.search(rf"^\[progress\] ({stages}): \d+%(, \d+ s left)?$", done.stderr, re.MULTILINE)


def test_lines_on_progress_begin_with_a_mark_and_quiet_leaves_them_out(tmp_path):
    line = ("detect", "--no-report", "--set", "n_estimators=3")
    done = odefs(*line, command=(sys.executable, "-c", IMPATIENT), cwd=tmp_path)
    assert (done.returncode, messages(done)) == (0, [])
    assert len(done.stderr.splitlines()) > 3
    done = odefs(*line, "--quiet", command=(sys.executable, "-c", IMPATIENT), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_module_version_and_help(tmp_path):
    assert odefs("--version", cwd=tmp_path).stdout.startswith("odefs, version ")
    assert "detect" in odefs("--help", command=(sys.executable, "-m", "odefs"), cwd=tmp_path).stdout
    for command in ("detect", "score", "explain", "report"):
        assert "--debug" in odefs(command, "-h", cwd=tmp_path).stdout


def test_reasons_stay_in_one_line_whatever_a_name_holds(tmp_path):
    rows = "".join(f"{i % 7},x{i % 3}\n" for i in range(60)) + '900,"y\n\x1b[31mz"\n'
    (tmp_path / "t.csv").write_text('"weight\n\x1b[31min kg",kind\n' + rows)
    done = odefs("detect", "t.csv", "--no-report", "--reasons", "all", "-o", "s.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    last = read(tmp_path / "s.csv")[-1]
    assert "weight [31min kg = 900" in last["reasons"]
    assert all(row["reasons"].isprintable() for row in read(tmp_path / "s.csv"))
    assert last["line"] == "63"


@pytest.mark.parametrize(
    ("file", "said", "told"),
    [
        ("t.csv", "too few rows", "t.csv: too few rows"),
        ("a/t.csv", "t.csv: line 3 is odd", "t.csv: line 3 is odd"),
        ("t.csv", "s.xlsx: too many rows", "s.xlsx: too many rows"),
        ("-", "standard input is closed", "standard input is closed"),
        ("-", "too few rows", "-: too few rows"),
    ],
)
def test_errors_begin_with_the_file_that_they_are_about(file, said, told):
    with pytest.raises(TableError) as raised, named_errors(file, "./s.xlsx"):
        raise TableError(said)
    assert str(raised.value) == told


@pytest.mark.parametrize(
    ("share", "code"), [("5%", 0), ("0.05", 0), ("60%", 2), ("5 rows", 2), ("nan", 2), ("0%", 2)]
)
def test_a_share_may_be_a_percentage(share, code, tmp_path):
    table = pl.DataFrame({"a": [float(i % 7) for i in range(100)], "b": range(100)})
    table.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--contamination", share, "--no-report", "--json")
    done = odefs(*line, "--set", "n_estimators=2", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    if not code:
        assert json.loads(done.stdout)["convention"]["share"] == 0.05


def test_a_misspelt_command_is_refused_with_the_one_that_was_meant(tmp_path):
    done = odefs("detekt", "t.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "Did you mean 'detect'?" in done.stderr
    assert "mean" not in odefs("zzz", cwd=tmp_path).stderr
