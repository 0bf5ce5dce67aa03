"""Wide data in partitions: reproducible, a prefix of a larger table, with outliers to find."""

import numpy as np
import pyarrow.parquet as pq

from command import messages
from command import odefs as run
from odefs import ODEFS
from odefs.datasets import synthetic
from odefs.engines.stream import RowBlocks
from odefs.experiments.run import evaluate


def test_partitions_do_not_depend_on_how_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic, "PARTITION_ROWS", 400)
    small, large = ([part.X for part in synthetic.parts(n, 8, seed=3)] for n in (900, 1300))
    assert [len(part) for part in small] == [400, 400, 100]
    assert np.array_equal(np.concatenate(large)[:900], np.concatenate(small))
    assert not np.array_equal(small[0], small[1])
    for name in ("a", "b"):
        assert synthetic.write_wide(tmp_path / name, 900, 8) == sum(
            int(part.y.sum()) for part in synthetic.parts(900, 8)
        )
    a, b = ((tmp_path / name / "part-00001.parquet").read_bytes() for name in ("a", "b"))
    assert a == b


def test_the_command_and_what_a_fit_finds(tmp_path):
    done = run(
        "datasets", "make", "wide", "--rows", "4000", "--columns", "40", "-o", "w", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    y = pq.read_table(tmp_path / "w" / "truth")["outlier"].to_numpy()
    model = ODEFS(random_state=0).fit(RowBlocks.from_parquet(tmp_path / "w"))
    assert evaluate(y, np.asarray(model.outlier_scores_))["auc"] > 0.9
    assert f"{int(y.sum())} outliers" in done.stdout
    assert str(synthetic.relevant_columns(40).tolist()) in done.stdout


def test_a_folder_holds_one_table(tmp_path):
    rows = synthetic.PARTITION_ROWS + 100

    def make(n, *more):
        return run(
            "datasets",
            "make",
            "wide",
            "--rows",
            n,
            "--columns",
            "3",
            "-o",
            "w",
            *more,
            cwd=tmp_path,
        )

    def content():
        return {
            file.relative_to(tmp_path): file.read_bytes()
            for file in tmp_path.rglob("*")
            if file.is_file()
        }

    assert make(rows).returncode == 0
    (tmp_path / "w" / "notes.txt").write_text("mine")
    before = content()
    done = make(500)
    assert done.returncode == 1
    (message,) = messages(done)
    assert "part-00000.parquet" in message
    assert "--force" in message
    assert content() == before
    assert make(500, "--force").returncode == 0
    assert sorted(str(file) for file in content()) == [
        "w/notes.txt",
        "w/part-00000.parquet",
        "w/truth/part-00000.parquet",
    ]
    assert pq.read_table(tmp_path / "w" / "part-00000.parquet").num_rows == 500
