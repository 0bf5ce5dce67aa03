"""Values compared within groups of rows (``by``)."""

import json

import numpy as np
import polars as pl
import pytest
from benchmarks.groups import fallen_percentiles
from sklearn.pipeline import make_pipeline

import odefs
from command import odefs as command
from command import read
from odefs.exceptions import ModelFileError, TableError
from odefs.models.odefs import ODEFSModel
from odefs.report import build_report
from odefs.tables import table as tables
from odefs.tables.detect import detect_table, score_table
from odefs.tables.encoder import groups, learning
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.group_statistics import learn_levels
from odefs.tables.table import ParquetTable, table_of

N = 1200
LEVELS = {"Lyon": 20.0, "Nice": 200.0, "Paris": 2000.0}
ODD = 7


def shops(seed=0, n=N):
    """Sales at the level of each shop; row ``ODD``, of Paris, has those of Nice."""
    rng = np.random.default_rng(seed)
    shop = rng.choice(list(LEVELS), n)
    usual = np.array([LEVELS[name] for name in shop])
    sales = usual * rng.lognormal(0, 0.1, n)
    shop[ODD], sales[ODD] = "Paris", 200.0
    # Each shop has its own way of payment; the other one is rare there.
    rare = rng.random(n) < 0.01
    pay = np.where((shop == "Lyon") ^ rare, "cash", "card")
    return pl.DataFrame(
        {"shop": shop, "sales": sales.round(1), "pay": pay, "open": shop != "Nice"}
        | {f"x{k}": rng.normal(size=n).round(2) for k in range(2)}
    )


def kinds(found):
    return [note.kind for note in found.notes]


def percentile(scores, row):
    return 100 * float((scores < scores[row]).mean())


@pytest.fixture(scope="module")
def found():
    return odefs.detect(shops(), by="shop")


def test_ordinary_elsewhere_but_odd_for_its_group(found):
    assert found.order[0] == ODD
    elsewhere = odefs.detect(shops(), drop=["shop", "pay", "open"])
    assert percentile(elsewhere.scores, ODD) < 90
    assert found.encoder.columns == ["sales", "pay", "open", "x0", "x1"]
    assert kinds(found) == ["groups"]


def test_the_level_of_a_group_is_no_outlier():
    frame = shops()
    rng = np.random.default_rng(1)
    small = pl.DataFrame(
        {
            "shop": ["Metz"] * 12,
            "sales": 90_000 * rng.lognormal(0, 0.1, 12),
            "pay": ["voucher"] * 12,
            "open": [False] * 12,
            "x0": rng.normal(size=12),
            "x1": rng.normal(size=12),
        }
    )
    both = pl.concat([frame, small])
    within, pooled = odefs.detect(both, by="shop").scores, odefs.detect(both).scores
    last = range(N, N + 12)
    assert np.mean([percentile(within, row) for row in last]) < 70
    assert np.mean([percentile(pooled, row) for row in last]) > 95


def test_a_category_is_rare_within_its_group(found):
    frame = shops()
    rare = ((frame["shop"] == "Lyon") == (frame["pay"] == "card")).to_numpy()
    column = found.X[:, found.encoder.columns.index("pay")]
    assert column[rare].min() > 1 > column[~rare].max()
    assert np.mean([percentile(found.scores, row) for row in np.flatnonzero(rare)]) > 90


def test_reasons_name_the_group(found):
    reason = found.reasons([ODD])[0][0]
    assert reason.column == "sales"
    assert reason.group == (("shop", "Paris"),)
    assert 1500 < reason.usual[0] < 2000 < reason.usual[1] < 2500
    assert reason.percentile < 1
    text = odefs.tables.messages.reason_usual(reason)
    assert text.startswith("for shop = Paris usually 1")


@pytest.mark.parametrize("n_rows", [2, 12])
def test_nothing_is_usual_in_a_group_of_a_few_rows(n_rows):
    frame = shops()
    shop = ["Metz" if row < n_rows else name for row, name in enumerate(frame["shop"])]
    sales = [90_000.0, *frame["sales"][1:]]
    found = odefs.detect(
        frame.with_columns(shop=pl.Series(shop), sales=pl.Series(sales)), by="shop", flag=1
    )
    reasons = found.reasons(0, k=5)[0]
    assert reasons
    assert all(reason.group == (("shop", "Metz"),) for reason in reasons)
    assert {reason.usual is None for reason in reasons} == {n_rows == 2}


def test_the_only_row_of_a_group_is_compared_with_the_whole_table():
    frame = shops()
    frame[20, "shop"] = "Niec"
    alone = odefs.detect(frame, by="shop")
    (reasons,) = alone.reasons([20])
    assert reasons
    for one in reasons:
        assert one.alone
        assert one.usual is None
        assert one.group == (("shop", "Niec"),)
        if one.percentile is not None:
            below = (frame[one.column] < one.value).sum()
            equal = (frame[one.column] == one.value).sum()
            assert one.percentile == pytest.approx(100 * (below + equal / 2) / N)
    assert not any(one.alone for one in alone.reasons([ODD])[0])


def test_the_report_names_the_group(found):
    summary = json.loads(build_report(found).json())
    assert summary["top"][0]["reasons"][0]["group"] == {"shop": "Paris"}
    assert summary["notes"][0]["kind"] == "groups"
    assert summary["notes"][0]["count"] == 3
    assert "shop" not in summary["columns_used"]


def test_a_hidden_group_is_not_named():
    found = odefs.detect(shops(), by="shop", hide=["shop"])
    written = build_report(found).json()
    assert "Paris" not in written
    assert "Lyon" not in written
    assert json.loads(written)["top"][0]["reasons"][0]["group"] == {}


def test_unknown_groups_are_counted_and_compared_with_the_whole_table(found):
    new = shops(seed=1, n=60).with_columns(
        shop=pl.when(pl.int_range(60) < 5).then(pl.lit("Brest")).otherwise("shop")
    )
    scored, _ = score_table(table_of(new), found.model, found.encoder)
    note = next(note for note in scored.notes if note.kind == "unknown_groups")
    assert (note.count, note.columns) == (5, ("shop",))
    spec = found.encoder.specs_[0]
    assert spec.centres[-1] == pytest.approx(np.median(shops()["sales"]), rel=1e-6)
    assert scored.reasons([0])[0] == [] or scored.reasons([0])[0][0].group is None


def test_missing_groups_are_a_group():
    frame = shops().with_columns(shop=pl.when(pl.col("shop") != "Nice").then("shop"))
    found = odefs.detect(frame, by="shop")
    assert (None,) in found.encoder.groups_.names
    assert found.order[0] == ODD
    unknown = found.encoder.groups_.unknown
    assert (found.table.groups != unknown).all()


def test_small_groups_are_shrunk_where_groups_do_not_differ():
    rng = np.random.default_rng(0)
    codes = np.append(np.repeat(np.arange(20), 50), [20, 20])
    values = np.append(rng.normal(0, 1, 1000), [30.0, 31.0])
    centres, scales, *_ = learn_levels(values, codes, 21)
    assert abs(centres[20]) < 3
    assert scales[20] < 2
    # The more rows, the more a group counts: the same level in 50 rows is its own.
    centres, *_ = learn_levels(
        np.append(values, rng.normal(30, 1, 48)), np.append(codes, [20] * 48), 21
    )
    assert centres[20] == pytest.approx(30, abs=1)


def test_levels_that_differ_are_kept_also_by_small_groups():
    rng = np.random.default_rng(0)
    usual = rng.permutation(np.geomspace(1, 1e4, 24))
    codes = np.append(np.repeat(np.arange(23), 40), [23] * 4)
    values = usual[codes] * rng.lognormal(0, 0.1, codes.size)
    centres, scales, *_ = learn_levels(values, codes, 24)
    np.testing.assert_allclose(centres[:23], usual[:23], rtol=0.1)
    np.testing.assert_allclose(scales[:23], 0.1 * usual[:23], rtol=0.5)


@pytest.mark.parametrize("seed", range(3))
def test_levels_have_the_median_and_quartiles_of_large_groups(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=6000)
    values = rng.normal([0.0, 100.0, -50.0], [1.0, 5.0, 20.0], (6000, 3))[np.arange(6000), codes]
    centres, scales, *_ = learn_levels(values, codes, 3)
    for code in range(3):
        own = values[codes == code]
        assert centres[code] == pytest.approx(np.median(own), abs=0.02 * own.std())
        assert scales[code] == pytest.approx(own.std(), rel=0.1)
    np.testing.assert_allclose(centres[3], np.median(values))


def test_whole_numbers_and_constant_groups_have_a_scale():
    codes = np.repeat([0, 1, 2], 100)
    counts = np.concatenate([np.zeros(100), np.random.default_rng(0).poisson(30, 200)])
    _, scales, *_ = learn_levels(counts, codes, 3)
    assert 0.25 < scales[0] < 3
    _, scales, *_ = learn_levels(np.repeat([0.5, 7.25, 9.125], 100), codes, 3)
    assert (scales > 0).all()


def test_extreme_and_missing_numbers_stay_finite():
    frame = pl.DataFrame(
        {
            "g": ["a", "b"] * 20 + ["c"] * 4,
            "x": [1e308, -1e308] * 20 + [None] * 4,
            "y": [float(k) for k in range(44)],
        }
    )
    X = odefs.TableEncoder(by="g").fit_transform(frame)
    assert np.isfinite(X).all()


def test_several_columns_combine():
    frame = shops().with_columns(half=pl.when(pl.int_range(N) % 2 == 0).then(pl.lit("am")))
    found = odefs.detect(frame, by=["shop", "half"])
    assert len(found.encoder.groups_.names) == 6
    assert found.reasons([ODD])[0][0].group == (("shop", "Paris"), ("half", None))


@pytest.mark.parametrize("sample", [100_000, 500])
def test_equal_in_memory_and_in_parts(sample, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", sample)
    monkeypatch.setattr(tables, "rows_at_once", lambda n_columns: 257)
    shops().write_parquet(tmp_path / "t.parquet", row_group_size=300)
    parts = ParquetTable((tmp_path / "t.parquet",))
    found = [
        detect_table(
            table, ODEFSModel(scaling="none", random_state=0), ColumnEncoder(by=["shop"]), top=5
        )
        for table in (parts.load(), parts)
    ]
    np.testing.assert_array_equal(found[0].extent.scores, found[1].extent.scores)
    assert found[0].encoder.state() == found[1].encoder.state()
    assert [note.is_sampled for note in found[1].notes] == [sample == 500]
    held = found[1].order[:3]
    assert [[r.group for r in one] for one in found[1].reasons(held)] == [
        [r.group for r in one] for one in found[0].reasons(found[1].extent.numbers[held])
    ]


def test_a_saved_model_scores_the_same_bits(found, tmp_path):
    found.save(tmp_path / "m.odefs")
    pipeline = odefs.load(tmp_path / "m.odefs")
    np.testing.assert_array_equal(-pipeline.score_samples(shops()), found.scores)
    np.testing.assert_array_equal(-pipeline.score_samples(shops().to_pandas()), found.scores)
    pyarrow = pytest.importorskip("pyarrow")
    batches = shops().to_arrow().to_batches(max_chunksize=100)
    scores = [batch["score"] for batch in odefs.score_batches(tmp_path / "m.odefs", batches)]
    np.testing.assert_array_equal(pyarrow.concat_arrays(scores), found.scores)


def test_a_pipeline_scores_the_same_bits(found):
    model = odefs.ODEFS(scaling="none", noise_columns="keep", random_state=0)
    pipeline = make_pipeline(odefs.TableEncoder(by="shop"), model).fit(shops())
    np.testing.assert_array_equal(-pipeline.score_samples(shops()), found.scores)


def test_without_groups_the_state_is_as_before():
    state = odefs.TableEncoder().fit(shops()).state()
    assert "groups" not in state
    assert "by" not in state["parameters"]
    assert not {"centres", "scales", "group_units", "group_usual"} & state["specs"][0].keys()


def broken(state, change):
    state = json.loads(json.dumps(state))
    change(state)
    return state


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("groups"),
        lambda state: state["groups"].pop(),
        lambda state: state["groups"].append(["Lyon"]),
        lambda state: state["groups"].append([1]),
        lambda state: state["parameters"].pop("by"),
        lambda state: state["parameters"].update(by=["sales"]),
        lambda state: state["specs"][0].update(scales=[0.0] * 4),
        lambda state: state["specs"][0].update(centres=["a"] * 4),
        lambda state: state["specs"][0].update(group_usual=[[1.0]] * 4),
        lambda state: state["specs"][1].update(group_units=[[0.0]] * 4),
        lambda state: state["specs"][1].update(group_usual=[[9.0, 0.5]] * 4),
    ],
)
def test_inconsistent_groups_in_a_file_are_refused(found, change):
    ColumnEncoder.from_state(broken(found.encoder.state(), lambda state: None))
    with pytest.raises(ModelFileError):
        ColumnEncoder.from_state(broken(found.encoder.state(), change))


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"by": "town"}, "there is no column 'town' to group by"),
        ({"by": "shop", "drop": ["shop"]}, "given both as 'by' and as 'drop'"),
        ({"by": "shop", "id": "shop"}, "given both as 'by' and as 'id'"),
        ({"by": ["shop", "shop"]}, "named twice"),
        ({"by": "sales"}, "too many to learn what is usual in each"),
        ({"by": "shop", "encoder": odefs.TableEncoder()}, "by cannot be combined with encoder"),
    ],
)
def test_errors_are_one_sentence(options, part):
    with pytest.raises(TableError, match=part) as error:
        odefs.detect(shops(), **options)
    assert str(error.value).endswith(".")
    assert str(error.value).count(". ") == 0


def test_one_group_is_the_whole_table():
    frame = shops().with_columns(shop=pl.lit("all"))
    found = odefs.detect(frame, by="shop")
    assert kinds(found) == ["single_group"]


def test_the_largest_groups_are_known(monkeypatch):
    monkeypatch.setattr(groups, "MAX_GROUPS", 2)
    found = odefs.detect(shops(), by="shop")
    assert len(found.encoder.groups_.names) == 2
    note = found.notes[-1]
    assert note.kind == "pooled_groups"
    assert note.count == int((found.table.groups == 2).sum()) > 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    shops().write_csv(folder / "t.csv")
    options = ("--by", "shop", "--save", "m.odefs", "-o", "s.csv", "--no-report", "--json")
    done = command("detect", "t.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "t.json").write_text(done.stdout)
    return folder


def test_the_command_line_finds_the_same(folder, found):
    document = json.loads((folder / "t.json").read_text())
    first = document["top"][0]
    assert first["row"] == ODD + 1
    assert first["reasons"][0]["group"] == {"shop": "Paris"}
    assert [note["kind"] for note in document["notes"]] == ["groups"]
    assert document["run"]["parameters"]["noise_columns"] == "keep"
    lines = read(folder / "s.csv")
    assert [float(line["score"]) for line in lines] == pytest.approx(found.scores.tolist())
    assert "for shop = Paris usually" in lines[ODD]["reasons"]


@pytest.mark.parametrize("in_parts", ["0", "1"])
def test_the_command_line_scores_the_same_with_a_saved_model(folder, in_parts):
    names = "m.odefs", "t.csv", "-o", f"again{in_parts}.csv"
    done = command("score", *names, cwd=folder, ODEFS_IN_PARTS=in_parts)
    assert done.returncode == 0, done.stderr
    scores = [[line["score"] for line in read(folder / n)] for n in ("s.csv", names[-1])]
    assert scores[0] == scores[1]


def test_the_command_line_counts_rows_of_unknown_groups(folder):
    new = shops(seed=1, n=60).with_columns(shop=pl.lit("Brest"))
    new.write_csv(folder / "new.csv")
    done = command("score", "m.odefs", "new.csv", "--json", cwd=folder)
    notes = {note["kind"]: note for note in json.loads(done.stdout)["notes"]}
    assert notes["unknown_groups"]["count"] == 60


@pytest.mark.parametrize("options", [("--by", "town"), ("--by", "sales")])
def test_errors_of_the_command_line(folder, options):
    done = command("detect", "t.csv", *options, "--no-report", "--quiet", cwd=folder)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_fallen_volume_is_seen_within_groups_only():
    within, pooled = fallen_percentiles(("source",)), fallen_percentiles(())
    assert min(within) >= 95
    assert max(pooled) < 60
