"""``odefs score --max-flagged``: shares, percentages, multiples; commands of the guides pass."""

import re
import shlex

import polars as pl
import pytest
from click.testing import CliRunner

from command import messages, odefs
from locations import ROOT
from odefs.cli.commands.score import command as score
from odefs.datasets.transactions import transactions_path
from odefs.exceptions import ModelFileError
from odefs.tables.model_files import tables as model_files
from odefs.tables.model_files.tables import load_table_model, save_table_model
from odefs.tables.records.notes import Provenance

TABLE = transactions_path()
FAST = ("--id", "transaction", "--no-report", "--quiet", "--set", "n_estimators=3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    assert odefs("detect", TABLE, "--save", "m.odefs", *FAST, cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize(
    ("limit", "code"),
    [("1x", 0), ("2X", 0), ("0.9x", 3), ("50%", 0), ("1%", 3), ("1e-2", 3), ("1", 0)],
)
def test_limits_on_the_training_table(folder, limit, code):
    done = odefs("score", "m.odefs", TABLE, "--max-flagged", limit, "--quiet", cwd=folder)
    assert (done.returncode, len(messages(done))) == (code, code == 3)


@pytest.mark.parametrize(
    "limit", ["x", "-1x", "0x", "nanx", "infx", "101%", "1.5", "two", "", "nan"]
)
def test_what_is_no_limit(folder, limit):
    line = [str(folder / "m.odefs"), str(TABLE), f"--max-flagged={limit}"]
    assert CliRunner().invoke(score, line).exit_code == 2


@pytest.mark.slow
def test_a_multiple_compares_rows_above_the_same_threshold(folder):
    """Training flagged two rows as requested; the model's own threshold flags more."""
    assert (
        odefs("detect", TABLE, "--save", "two.odefs", "--flag", 2, *FAST, cwd=folder).returncode
        == 0
    )
    loaded = load_table_model(folder / "two.odefs")
    assert loaded.flagged_share == 2 / 800 < loaded.share_above(None)
    limit = ("--max-flagged", "1x", "--quiet")
    assert odefs("score", "two.odefs", TABLE, *limit, cwd=folder).returncode == 0
    (threshold,) = {threshold for threshold, _ in loaded.shares_above} - {-loaded.model.offset_}
    assert loaded.share_above(threshold) == 2 / 800
    assert (
        odefs("score", "two.odefs", TABLE, "--threshold", threshold, *limit, cwd=folder).returncode
        == 0
    )
    assert (
        odefs("score", "two.odefs", TABLE, "--threshold", 1.5, *limit, cwd=folder).returncode == 1
    )
    for option in ("--flag", "--contamination"):
        assert (
            odefs(
                "score",
                "two.odefs",
                TABLE,
                option,
                "0.1"[option == "--flag" and 2 :],
                *limit,
                cwd=folder,
            ).returncode
            == 2
        )


@pytest.mark.slow
def test_a_file_of_an_older_version_takes_shares_only(folder, monkeypatch, tmp_path):
    loaded = load_table_model(folder / "m.odefs")
    noted = {
        "identifier": None,
        "flagged_share": loaded.flagged_share,
        "hidden": [],
        "source": {},
        "run": Provenance(),
    }
    written = []
    save = model_files.save_model
    monkeypatch.setattr(
        model_files,
        "save_model",
        lambda *given, extra, **more: written.append(extra) or save(*given, extra=extra, **more),
    )
    save_table_model(tmp_path / "new.odefs", loaded.model, loaded.encoder, shares_above=[], **noted)
    del written[0]["shares_above"]
    save(loaded.model, tmp_path / "old.odefs", extra=written[0])
    done = odefs("score", "old.odefs", TABLE, "-o", "o.csv", "--max-flagged", "2x", cwd=tmp_path)
    assert (done.returncode, len(messages(done)), (tmp_path / "o.csv").exists()) == (1, 1, False)
    assert (
        odefs(
            "score", "old.odefs", TABLE, "--max-flagged", "5%", "--quiet", cwd=tmp_path
        ).returncode
        == 0
    )


@pytest.mark.parametrize("shares", [[[1.0]], [["a", 0.5]], [[1.0, 1.5]], {"a": 1}, [3]])
def test_shares_of_a_file_are_checked(folder, shares, tmp_path):
    loaded = load_table_model(folder / "m.odefs")
    noted = {
        "identifier": None,
        "flagged_share": 0.1,
        "hidden": [],
        "source": {},
        "run": Provenance(),
    }
    save_table_model(
        tmp_path / "m.odefs", loaded.model, loaded.encoder, shares_above=shares, **noted
    )
    with pytest.raises(ModelFileError):
        load_table_model(tmp_path / "m.odefs")


@pytest.mark.slow
def test_a_folder_takes_multiples(folder, tmp_path):
    (tmp_path / "in").mkdir()
    pl.read_csv(TABLE).write_parquet(tmp_path / "in" / "t.parquet")
    line = ("score", folder / "m.odefs", "in", "-o", "out", "--force", "--quiet", "--max-flagged")
    assert odefs(*line, "2x", cwd=tmp_path).returncode == 0
    assert odefs(*line, "0.5x", cwd=tmp_path).returncode == 3


GUIDES = ("analyst.md", "platform-engineer.md")


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES)
def test_commands_of_a_guide_succeed_on_the_training_table(guide, tmp_path):
    """Every file that a command reads is the table that the model is made of."""
    names = (
        {"transaction": "invoice", "amount": "salary"}
        if guide == "analyst.md"
        else {"transaction": "key"}
    )
    frame = pl.read_csv(TABLE).rename(names).with_columns(comment=pl.lit("-"))
    blocks = re.findall(
        r"```sh\n(.*?)```", (ROOT / "docs" / "tutorials" / guide).read_text(), flags=re.DOTALL
    )
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    lines = [line[1:] for line in lines if line[:1] == ["odefs"]]
    assert lines
    for line in lines:
        for name in (line[1], *(line[2:3] if line[0] != "detect" else ())):
            if name.endswith(".csv"):
                frame.write_csv(tmp_path / name)
            elif name.endswith(".parquet"):
                frame.write_parquet(tmp_path / name)
        done = odefs(*line, cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
