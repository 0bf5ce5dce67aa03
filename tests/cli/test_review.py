"""``odefs review`` and ``odefs detect --answers``: exit codes, messages, files."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from command import WITHOUT, messages, odefs, read
from odefs.datasets.transactions import transactions_path
from review_server import FAST, launch, review

QUICK = ("--no-report", *FAST)
posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send these signals to another process"
)


@pytest.fixture
def table(tmp_path):
    """The bundled example, as a file without an id."""
    path = tmp_path / "table.csv"
    path.write_bytes(transactions_path().read_bytes())
    return path


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_review_and_keep_its_answers(number, code, tmp_path):
    with review(tmp_path) as server:
        state = server.answer(server.state(), "yes")
        state = server.answer(state, "unsure")
        ended, out, err = server.end(number)
    assert ended == code
    assert len(messages(err)) == 1
    assert "Traceback" not in err
    assert out.splitlines()[-1] == "Answers: transactions.answers.csv (2)"
    lines = read(tmp_path / "transactions.answers.csv")
    assert [line["answer"] for line in lines] == ["yes", "unsure"]
    assert [path.name for path in tmp_path.iterdir()] == ["transactions.answers.csv"]


INTERRUPTED = """
import os, time
from odefs.review_page.session import ReviewSession
answer = ReviewSession.answer
def interrupted(self, *arguments):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
    return answer(self, *arguments)
ReviewSession.answer = interrupted
"""


@posix
def test_a_signal_waits_for_the_answer_being_saved(tmp_path):
    with review(tmp_path, before=INTERRUPTED) as server:
        state = server.answer(server.state(), "yes")
        out, err = server.process.communicate(timeout=60)
    assert state["sequence"] == 1
    assert server.process.returncode == 130
    assert len(messages(err)) == 1
    assert out.splitlines()[-1] == "Answers: transactions.answers.csv (1)"
    assert [line["answer"] for line in read(tmp_path / "transactions.answers.csv")] == ["yes"]


def test_finishing_on_the_page_is_success(table, tmp_path):
    with review(tmp_path, table, "--category", "hour") as server:
        state = server.answer(server.state(), "no")
        command = "odefs detect --answers table.answers.csv --set n_estimators=2 --set n_subsets=8"
        assert state["command"] == f"{command} {table} --category hour"
        assert server.request("finish", {})[0] == 200
        out, err = server.process.communicate(timeout=60)
    assert server.process.returncode == 0
    assert messages(err) == []
    assert out.splitlines()[-1] == "Answers: table.answers.csv (1)"


def test_detect_takes_up_what_a_review_left(tmp_path):
    with review(tmp_path) as server:
        state = server.state()
        for _ in range(4):
            state = server.answer(state, "no")
    answers = tmp_path / "transactions.answers.csv"
    before = odefs("detect", *QUICK, "-o", "before.csv", cwd=tmp_path)
    after = odefs(
        "detect", *QUICK, "-o", "after.csv", "--save", "m.odefs", "--answers", answers, cwd=tmp_path
    )
    assert before.returncode == after.returncode == 0, after.stderr
    assert "answers of a review: 0 rows confirmed, 4 ordinary" in after.stdout
    assert "before the answers" in after.stdout
    assert "before the answers" not in before.stdout
    first, second = (
        {line["transaction"]: float(line["score"]) for line in read(tmp_path / name)}
        for name in ("before.csv", "after.csv")
    )
    told = [line["transaction"] for line in read(answers)]
    assert all(second[name] <= first[name] for name in told)
    assert any(second[name] < first[name] for name in told)
    document = odefs("detect", *FAST, "--json", "--answers", answers, cwd=tmp_path)
    notes = json.loads(document.stdout)["notes"]
    assert [(note["count"], note["n_normal"]) for note in notes if note["kind"] == "answers"] == [
        (0, 4)
    ]


def test_a_table_in_parts_takes_up_answers_with_the_same_scores(table, tmp_path):
    (tmp_path / "a.csv").write_text("row;answer\n422;no\n58;no\n737;yes\n")
    for name, parts in (("whole.csv", "0"), ("parts.csv", "1")):
        done = odefs(
            *("detect", table, *QUICK, "--answers", "a.csv", "-o", name),
            cwd=tmp_path,
            ODEFS_IN_PARTS=parts,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "parts.csv").read_bytes()


def test_a_review_with_a_saved_model(tmp_path):
    assert odefs("detect", *QUICK, "--save", "m.odefs", cwd=tmp_path).returncode == 0
    with review(tmp_path, "--model", "m.odefs", transactions_path()) as server:
        state = server.state()
        assert state["row"]["title"].startswith("transaction T")
        assert server.answer(state, "yes")["found"] == [1]


def test_a_hidden_id_is_not_in_the_answers(tmp_path):
    with review(tmp_path, "--hide", "transaction", "--hide", "amount") as server:
        state = server.state()
        assert state["row"]["title"] == f"row {state['row']['row'] + 1}"
        assert "amount" not in {column["name"] for column in state["row"]["columns"]}
        server.answer(state, "yes")
    (line,) = read(tmp_path / "transactions.answers.csv")
    assert line["row"] == str(state["row"]["row"] + 1)
    assert "transaction" not in line


def test_columns_that_give_the_answer_away_are_not_shown(table, tmp_path):
    lines = table.read_text().splitlines()
    labelled = [f"{lines[0]},truth,note"]
    labelled += [f"{line},{int(k % 9 == 0)},note {k}" for k, line in enumerate(lines[1:])]
    table.write_text("\n".join(labelled) + "\n")
    with review(tmp_path, table, "--label", "truth", "--id", "transaction") as server:
        row = server.state()["row"]
    assert row["others"] == [["note", f"note {row['row']}"]]
    assert "truth" not in {column["name"] for column in row["columns"]}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--answers", "a.txt"), 1, "a.txt: the name must end in one of .csv"),
        (("--answers", "no/a.csv"), 1, "there is no folder no"),
        (("--port", "70000"), 2, "--port"),
        (("-",), 2, "--answers is needed with a table from standard input"),
        (("absent.csv",), 1, "absent.csv: there is no such file"),
        (("--model", "absent.odefs"), 1, "absent.odefs: there is no such model file"),
    ],
)
def test_wrong_use_is_refused(arguments, code, sentence, tmp_path):
    done = odefs("review", "--no-browser", *FAST, *arguments, cwd=tmp_path)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Review:" not in done.stdout


def test_the_answers_must_be_another_file_than_the_table(table, tmp_path):
    done = odefs("review", table, "--answers", table, cwd=tmp_path)
    assert done.returncode == 2
    assert "is given twice" in done.stderr
    done = odefs("detect", table, "--answers", "s.csv", "-o", "s.csv", cwd=tmp_path)
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["review", "detect"])
def test_answers_on_another_table_are_refused(command, table, tmp_path):
    content = "row,answer,table\n1,yes,sha256:0000000000000000\n"
    (tmp_path / "table.answers.csv").write_text(content)
    arguments = ("--no-browser",) if command == "review" else ("--no-report",)
    done = odefs(command, table, *FAST, *arguments, "--answers", "table.answers.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "table.answers.csv: these are answers on another table" in done.stderr
    assert (tmp_path / "table.answers.csv").read_text() == content


def test_a_used_port_is_named(tmp_path):
    with review(tmp_path) as server:
        port = server.netloc.partition(":")[2]
        done = odefs("review", "--no-browser", "--port", port, *FAST, cwd=tmp_path)
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert len(messages(done)) == 1


def test_a_missing_package_is_named_with_what_installs_it(tmp_path):
    script = (
        f"ABSENT = {{'tornado'}}\n{WITHOUT}\nfrom odefs.cli.main import main\n"
        "sys.argv = ['odefs', 'review']\nmain()"
    )
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    (sentence,) = messages(done)
    assert "the review page needs tornado, which is not installed" in sentence
    assert "pip install 'odefs[review]'" in sentence


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_browser_gets_a_private_file_instead_of_the_secret(number, tmp_path):
    noted, temporary = tmp_path / "noted", tmp_path / "tmp"
    temporary.mkdir()
    opener = tmp_path / "opener.py"
    opener.write_text(
        "import os, sys\n"
        f"open('{noted}.part', 'w').write(sys.argv[1])\n"
        f"os.rename('{noted}.part', '{noted}')\n"
    )
    browser = f"{sys.executable} {opener} %s"
    process = launch(tmp_path, *FAST, BROWSER=browser, TMPDIR=str(temporary))
    try:
        address = process.stdout.readline().removeprefix("Review: ").strip()
        assert address.startswith("http://127.0.0.1:")
        latest = time.monotonic() + 60
        while not noted.exists():
            assert time.monotonic() < latest, "no browser was started"
            time.sleep(0.05)
        given = noted.read_text()
        assert given.startswith("file:///")
        assert urlsplit(address).path.strip("/") not in given
        file = Path(urlsplit(given).path)
        assert f"url={address}" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700
        process.send_signal(number)
        process.communicate(timeout=60)
        assert list(temporary.iterdir()) == []
    finally:
        process.kill()
        process.communicate()


@posix
def test_without_a_temporary_folder_the_address_is_still_printed(tmp_path):
    process = launch(tmp_path, *FAST, BROWSER="true", TMPDIR=str(tmp_path / "absent"))
    try:
        assert process.stdout.readline().startswith("Review: http://127.0.0.1:")
        said = next(line for line in process.stderr if messages(line))
        assert "No browser was opened" in said
    finally:
        process.kill()
        process.communicate()
