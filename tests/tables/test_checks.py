"""Values to check: planted errors are named with their rows, and clean tables stay quiet."""

import json
from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from sklearn import datasets
from xlsxwriter import Workbook

import odefs
from command import odefs as run
from command import read
from erroneous_table import planted
from odefs.tables import messages
from odefs.tables import table as tables
from odefs.tables.checks import find_checks, gather
from odefs.tables.checks.facts import quantiles
from odefs.tables.checks.rows import ROWS_KEPT
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.messages.checks import SHOWN_VALUES
from odefs.tables.results.displayed_rows import shown_checks, shown_names
from odefs.tables.table import ParquetTable, table_of

TODAY = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def checks_of(frame, id=None, **settings):
    table, encoder = table_of(frame), ColumnEncoder(**settings)
    names = [name for name in table.names if name != id]
    learn_encoder(encoder, table, names, 0)
    return find_checks(table, encoder, names, today=TODAY, id=id)


def rows_by_place(checks):
    return {(check.kind, check.column): list(check.rows) for check in checks}


def test_every_planted_error_is_named_with_its_rows_and_nothing_else():
    frame, expected = planted()
    checks = checks_of(frame)
    assert rows_by_place(checks) == expected
    assert all(check.count == len(check.rows) for check in checks)
    assert len({check.kind for check in checks}) == len(expected)
    certainties = [check.certainty for check in checks]
    assert certainties == sorted(certainties, reverse=True)
    values = {(check.kind, check.column): check.values for check in checks}
    assert values["text_in_numbers", "size"] == ("12a", "n/a?")
    assert values["extreme_value", "height"] == (58.9,)


@pytest.mark.parametrize("in_parts", ["0", "1"])
def test_the_command_lists_them_in_memory_and_in_parts(in_parts, tmp_path):
    frame, expected = planted()
    frame.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--id", "key", "--json", "--checks-out", "c.csv", "--seed", "1")
    done = run(*line, "--set", "n_estimators=3", cwd=tmp_path, ODEFS_IN_PARTS=in_parts)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["sampled"] is not None) == (in_parts == "1")
    found = {
        (one["kind"], one["column"]): [row - 1 for row in one["rows"]] for one in summary["checks"]
    }
    assert found == expected
    assert summary["checks_omitted"] == 0
    for one in summary["checks"]:
        assert one["names"] == [frame["key"][row - 1] for row in one["rows"]]
    lines = read(tmp_path / "c.csv")
    assert list(lines[0]) == ["kind", "column", "row", "id", "value", "sentence"]
    assert {(line["kind"], line["column"] or None, int(line["row"]) - 1) for line in lines} == {
        (*place, row) for place, rows in expected.items() for row in rows
    }
    assert [line["value"] for line in lines if line["kind"] == "early_date"] == ["1815-06-18"]


def test_batches_of_any_height_give_the_same_list(tmp_path, monkeypatch):
    monkeypatch.setattr(gather, "SAMPLE_ROWS", 700)
    frame, expected = planted()
    frame.write_parquet(tmp_path / "t.parquet")
    in_memory = checks_of(frame)
    assert rows_by_place(in_memory) == expected
    for height in (7, 500):
        monkeypatch.setattr(tables, "rows_at_once", lambda width, height=height: height)
        table, encoder = ParquetTable((tmp_path / "t.parquet",)), ColumnEncoder()
        learn_encoder(encoder, table, table.names, 0)
        assert find_checks(table, encoder, table.names, today=TODAY) == in_memory


def clean_synthetic(k):
    rng = np.random.default_rng(k)
    n = 3000
    return {
        0: lambda: {f"x{j}": rng.normal(size=n) for j in range(8)},
        1: lambda: {f"x{j}": rng.lognormal(sigma=2, size=n) for j in range(8)},
        2: lambda: {f"x{j}": rng.pareto(1.2, size=n) for j in range(8)},
        3: lambda: {f"x{j}": rng.standard_t(2, size=n) for j in range(8)},
        4: lambda: {f"x{j}": rng.poisson(1 + j, size=n) for j in range(8)},
        5: lambda: {f"x{j}": rng.geometric(0.05, size=n) for j in range(8)},
        6: lambda: {f"x{j}": rng.normal(3, 1, size=n) for j in range(8)},
        7: lambda: {
            "type": rng.choice(["Type1", "Type2", "Type3"], n, p=[0.94, 0.05, 0.01]),
            "code": rng.choice(["AB12", "AB13", "AC12"], n, p=[0.96, 0.03, 0.01]),
            "class": rng.choice(["Class A", "Class B"], n, p=[0.99, 0.01]),
            "answer": rng.integers(1, 6, n),
        },
        8: lambda: {
            "day": pl.Series(rng.integers(10_000, 20_000, n)).cast(pl.Date),
            "amount": rng.exponential(100, n).round(2),
            "paid": rng.random(n) < 0.2,
            "count": np.where(rng.random(n) < 0.9, 0, rng.poisson(3, n)),
        },
        9: lambda: {
            "a": rng.choice(["x", "y"], n),
            "b": rng.integers(0, 4, n),
            "change": rng.normal(size=n),
            "mixture": np.where(rng.random(n) < 0.5, rng.normal(size=n), rng.normal(50, 1, n)),
        },
    }[k]()


@pytest.mark.parametrize("k", range(10))
def test_clean_synthetic_tables_are_quiet(k):
    assert len(checks_of(pl.DataFrame(clean_synthetic(k)))) <= 1


REAL = {
    "iris": lambda: datasets.load_iris().data,
    "wine": lambda: datasets.load_wine().data,
    "breast cancer": lambda: datasets.load_breast_cancer().data,
    "diabetes": lambda: datasets.load_diabetes().data,
    "diabetes, unscaled": lambda: datasets.load_diabetes(scaled=False).data,
    "linnerud": lambda: datasets.load_linnerud().data,
    "digits": lambda: datasets.load_digits().data,
    "photograph": lambda: datasets.load_sample_image("china.jpg").reshape(-1, 3)[::50],
    "flower": lambda: datasets.load_sample_image("flower.jpg").reshape(-1, 3)[::50],
    "friedman": lambda: datasets.make_friedman1(2000, random_state=0)[0],
}


@pytest.mark.parametrize("name", REAL)
def test_real_tables_have_few_lines(name):
    table = np.asarray(REAL[name](), dtype=float)
    frame = pl.DataFrame({f"c{k}": table[:, k] for k in range(table.shape[1])})
    assert len(checks_of(frame)) <= 5


def test_a_row_that_is_the_sum_of_the_others():
    rng = np.random.default_rng(0)
    cells = {name: rng.integers(1, 100, 40).astype(float) for name in "pqr"}
    for name, values in cells.items():
        cells[name] = [*values, values.sum()]
    (check,) = checks_of(pl.DataFrame(cells))
    assert (check.kind, check.rows, check.summed) == ("sum_row", (40,), ("p", "q", "r"))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_is_found_among_numbers_of_both_signs(sign):
    rng = np.random.default_rng(0)
    cells = {name: sign * rng.integers(1, 100, 40) for name in "pq"}
    cells["p"][7] *= -1
    cells = {name: [*values.tolist(), int(values.sum())] for name, values in cells.items()}
    checks = checks_of(pl.DataFrame(cells))
    assert [(check.kind, check.rows) for check in checks if check.column is None] == [
        ("sum_row", (40,))
    ]


@pytest.mark.parametrize(
    "label", ["Total", "Summe", "Gesamt", "Gesamtsumme:", "Somme", "Totale", "SUMA"]
)
def test_labels_of_totals(label):
    amounts = np.random.default_rng(0).integers(1, 100, (2, 40)).tolist()
    shops = [f"shop {k}" for k in range(40)]
    frame = pl.DataFrame({"shop": shops, "p": amounts[0], "q": amounts[1]})
    total = pl.DataFrame({"shop": [label], "p": [sum(amounts[0])], "q": [sum(amounts[1])]})
    (check,) = checks_of(pl.concat([frame, total]))
    assert (check.kind, check.rows, check.certainty) == ("total_row", (40,), 0.95)
    other = total.with_columns(
        pl.lit(50).alias("p").cast(pl.Int64), pl.lit(50).alias("q").cast(pl.Int64)
    )
    # Without the sums, it may be the name of a shop.
    (check,) = checks_of(pl.concat([frame, other]))
    assert (check.kind, check.certainty) == ("total_row", 0.5)


SUBTOTALS = {
    "before": ("Total North", "Total South", "Total"),
    "after": ("North Total", "South Total", "Grand Total"),
    "of": ("Subtotal for North", "subtotal: south", "Subtotal"),
}


@pytest.mark.parametrize("labels", SUBTOTALS.values(), ids=SUBTOTALS)
def test_subtotals_inside_a_sheet_are_named_and_stay(labels, tmp_path):
    north, south, both = labels
    rows = [["region", "amount", "items"]]
    rows += [["North", 10.5 + k, k % 5] for k in range(20)] + [[north, 400, 40]]
    rows += [["South", 20.5 + k, k % 5] for k in range(20)] + [[south, 600, 40]]
    rows += [["West", 15.5 + k, k % 5] for k in range(20)]
    rows.insert(40, [both, 1000, 80])
    with Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for k, row in enumerate(rows):
            sheet.write_row(k, 0, row)
    found = odefs.detect(tmp_path / "t.xlsx")
    assert found.n_rows == len(rows) - 1
    totals = next(check for check in found.checks if check.kind == "total_row")
    assert sorted(totals.values) == sorted(labels)


def test_subtotals_may_name_a_value_of_another_column():
    customers = ["Acme GmbH"] * 30 + [None] + ["Bolt Ltd"] * 30 + [None, "Total Ltd"]
    labels = [f"R-{k:04d}" for k in range(63)]
    labels[30], labels[61] = "Subtotal Acme GmbH", "Bolt Ltd total"
    net = np.random.default_rng(0).normal(100, 9, 63).round(2)
    frame = pl.DataFrame({"invoice": labels, "customer": customers, "net": net})
    totals = [check for check in checks_of(frame) if check.kind == "total_row"]
    assert [check.values for check in totals] == [("Subtotal Acme GmbH", "Bolt Ltd total")]
    named = frame.with_columns(customer=pl.Series(customers).replace("Acme GmbH", "Acme AG"))
    totals = [check for check in checks_of(named) if check.kind == "total_row"]
    assert [check.values for check in totals] == [("Bolt Ltd total",)]


def test_averages_and_counts_below_a_table_are_named_and_no_copies():
    rng = np.random.default_rng(0)
    columns = {name: [*rng.normal(size=60), None, None] for name in "abcd"}
    person = [*(str(k) for k in range(1, 61)), "Average", "n = 60"]
    found = checks_of(pl.DataFrame({"person": person} | columns))
    assert rows_by_place(found) == {
        ("total_row", "person"): [60, 61],
        ("text_in_numbers", "person"): [60, 61],
    }


@pytest.mark.parametrize("place", [4, 40])
@pytest.mark.parametrize("amount", [5.0, 9000.0])
def test_a_name_in_the_midst_of_names_is_a_total_only_if_its_numbers_are_high(place, amount):
    rng = np.random.default_rng(0)
    names = [f"company {k}" for k in range(40)]
    names.insert(place, "Total")
    columns = {name: rng.uniform(1, 100, 40).round(1).tolist() for name in ("sales", "assets")}
    for cells in columns.values():
        cells.insert(place, amount)
    columns["as text"] = [f"{cell} kg" for cell in columns["sales"]]
    found = checks_of(pl.DataFrame({"name": names} | columns))
    is_total = place == 40 or amount > 100
    assert [check.rows for check in found if check.kind == "total_row"] == [(place,)] * is_total


def test_names_with_the_word_total_are_not_totals():
    shops = ["Total Eclipse", "Colgate Total", "North", "South", "West"] * 12
    checks = odefs.detect(pl.DataFrame({"shop": shops, "n": [k % 7 for k in range(60)]})).checks
    assert not [check for check in checks if check.kind == "total_row"]


@pytest.mark.parametrize(
    ("rare", "frequent", "expected"),
    [
        ("Phlippines", "Philippines", "spelling"),
        ("Gremany", "Germany", "spelling"),
        ("Germanyy", "Germany", "spelling"),
        ("GERMANY", "Germany", "case_or_spaces"),
        (" Germany", "Germany", "case_or_spaces"),
        ("Ja ", "ja", "case_or_spaces"),
        ("JA", "ja", "case_or_spaces"),
        ("a ", "a", "case_or_spaces"),
        ("A", "a", None),
        ("Type2", "Type1", None),
        ("Group B", "Group A", None),
        ("mother", "other", None),
        ("Iran", "Iraq", None),
        ("Model 12", "Model 13", None),
    ],
)
def test_spellings(rare, frequent, expected):
    frame = pl.DataFrame({"c": [frequent] * 40 + ["quite different"] * 40 + [rare], "x": range(81)})
    kinds = [(check.kind, check.values[0], check.usual[0]) for check in checks_of(frame)]
    assert kinds == ([(expected, rare, frequent)] if expected else [])


def test_two_frequent_spellings_are_two_values():
    frame = pl.DataFrame({"c": ["Hansen"] * 40 + ["Hanson"] * 30, "x": range(70)})
    assert checks_of(frame) == []


def test_many_dates_in_the_future_are_plans():
    days = [date(2025, 1, 1) + timedelta(days=7 * k) for k in range(100)]
    assert checks_of(pl.DataFrame({"day": days, "x": np.arange(100.0) % 7})) == []


def test_declared_missing_words_and_categories_are_not_checked():
    frame, expected = planted()
    checks = checks_of(frame, na=["-999", "12a", "n/a?"], category=["height"])
    gone = {("code", "income"), ("text_in_numbers", "size"), ("extreme_value", "height")}
    assert rows_by_place(checks) == {
        place: rows for place, rows in expected.items() if place not in gone
    }


def test_detect_holds_them_and_can_leave_them_out():
    frame, expected = planted()
    model = odefs.ODEFS(n_estimators=3, scaling="none", random_state=0)
    found = odefs.detect(frame, id="key", model=model)
    assert rows_by_place(found.checks) == expected
    assert {check.names for check in found.checks if check.kind == "copied_row"} == {("k89",)}
    assert all(isinstance(check, odefs.ValueCheck) and str(check) for check in found.checks)
    without = odefs.detect(frame, id="key", model=model, checks=False)
    assert without.checks == []
    assert (without.scores == found.scores).all()


def test_hidden_columns_are_not_quoted(tmp_path):
    frame, expected = planted()
    frame.write_csv(tmp_path / "t.csv")
    hide = ("--hide", "country", "--hide", "key")
    line = ("detect", "t.csv", "--id", "key", *hide, "--report", "r.json", "--checks-out", "c.csv")
    done = run(*line, "--set", "n_estimators=3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    checks = json.loads((tmp_path / "r.json").read_text())["checks"]
    assert {(one["kind"], one["column"]) for one in checks} == {
        place for place in expected if place[1] != "country"
    }
    assert all(one["names"] == one["rows"] for one in checks)
    assert "id" not in read(tmp_path / "c.csv")[0]
    for text in (done.stdout, (tmp_path / "r.json").read_text(), (tmp_path / "c.csv").read_text()):
        assert "Phlippines" not in text
        assert "k89" not in text


def test_options_of_the_command(tmp_path):
    frame, _ = planted()
    frame = frame.with_columns(country=pl.col("country").replace("Phlippines", "=1+1"))
    frame.write_csv(tmp_path / "t.csv")
    fast = ("--set", "n_estimators=3")
    both = run("detect", "t.csv", "--no-checks", "--checks-out", "c.csv", cwd=tmp_path)
    assert both.returncode == 2
    same = run("detect", "t.csv", "--checks-out", "t.csv", "--force", cwd=tmp_path)
    assert same.returncode == 2
    without = run("detect", "t.csv", "--no-checks", "--json", *fast, cwd=tmp_path)
    assert json.loads(without.stdout)["checks"] == []
    screen = run("detect", "t.csv", "--checks-out", "c.csv", "--no-report", *fast, cwd=tmp_path)
    head, _, _ = screen.stdout.partition("rank")
    assert head.count("[row") == 5
    assert "Traceback" not in screen.stderr


def test_text_that_would_be_a_formula_is_escaped(tmp_path):
    sizes = [str(k % 80 + 10) for k in range(100)]
    sizes[7] = "=1+1"
    pl.DataFrame({"size": sizes, "x": np.arange(100.0) % 7}).write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--checks-out", "c.csv", "--no-report", "--set", "n_estimators=3")
    assert run(*line, cwd=tmp_path).returncode == 0
    (line,) = read(tmp_path / "c.csv")
    assert (line["kind"], line["value"]) == ("text_in_numbers", "'=1+1")


def test_quantiles_are_those_of_numpy():
    values = np.sort(np.random.default_rng(0).normal(size=101))
    shares = (0.0, 0.013, 0.5, 0.99, 1.0)
    np.testing.assert_allclose(quantiles(values, *shares), np.quantile(values, shares))


def test_a_cell_is_named_once_and_missing_values_are_not():
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 300).astype(float)
    ages[[3, 50, 70]], ages[[9, 11]], ages[20] = -99.0, 999.0, 300.0
    frame = pl.DataFrame({"age": ages, "x": rng.normal(size=300)})
    found = {check.kind: check.rows for check in odefs.detect(frame, na=["-99"]).checks}
    assert found["code"] == (9, 11)
    assert found["impossible_value"] == (20,)


def test_long_texts_are_not_compared():
    texts = [f"{'word ' * 20}{k % 7}" for k in range(700)]
    texts[5] = texts[5].replace("word", "wrod", 1)
    frame = pl.DataFrame({"text": texts, "x": np.arange(700.0) % 13})
    assert not [check for check in odefs.detect(frame).checks if check.kind == "spelling"]


def test_dates_in_text_are_compared_as_dates():
    days = [f"{1 + k % 28:02d}/{1 + k % 12:02d}/2013" for k in range(300)]
    (check,) = checks_of(pl.DataFrame({"day": [*days, "13/05/1961"], "x": range(301)}))
    assert (check.kind, check.of, check.values) == ("extreme_value", "time", ("13/05/1961",))
    assert "2013-" in str(check)


@pytest.mark.parametrize(
    "named", [lambda k: k, lambda k: f"A-{k:04d}", lambda k: f"R-{2020 + k // 5200}-{k:05d}"]
)
def test_repeated_ids_are_named_with_all_their_rows(named, tmp_path):
    ids = [named(5000 + k) for k in range(400)]
    ids[100], ids[301] = ids[99], ids[7]
    frame = pl.DataFrame({"order_id": ids, "x": np.random.default_rng(0).normal(size=400)})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=90)
    (in_memory,) = checks_of(frame)
    assert (in_memory.kind, in_memory.column, in_memory.usual_count) == (
        *("repeated_id", "order_id"),
        2,
    )
    assert in_memory.rows == (7, 99, 100, 301)
    table, encoder = ParquetTable([tmp_path / "t.parquet"]), ColumnEncoder()
    learn_encoder(encoder, table, frame.columns, 0)
    assert find_checks(table, encoder, frame.columns, today=TODAY) == [in_memory]


@pytest.mark.parametrize("label", ["Total", "see 17/B"])
def test_cells_that_are_not_ids_do_not_hide_repeated_ones(label):
    ids = [*(str(1000 + k) for k in range(200)), label]
    ids[100] = ids[50]
    frame = pl.DataFrame({"order_id": ids, "x": np.random.default_rng(0).normal(size=201)})
    assert rows_by_place(checks_of(frame))["repeated_id", "order_id"] == [50, 100]


@pytest.mark.parametrize(
    "named",
    [
        lambda k: k,
        lambda k: f"R-2026-{k}",
        lambda k: k * 7919**2 % 10**9,
        lambda k: f"{k * 7919**3 % 10**12:x}",
    ],
)
def test_the_column_of_ids_is_searched_whatever_its_name(named):
    numbers = [named(1000 + k) for k in range(200)]
    numbers[100] = numbers[50]
    frame = pl.DataFrame({"invoice": numbers, "x": np.random.default_rng(0).normal(size=200)})
    (check,) = odefs.detect(frame, id="invoice", random_state=0).checks
    assert (check.kind, check.column, check.rows) == ("repeated_id", "invoice", (50, 100))
    assert check.names == (numbers[50], numbers[50])


@pytest.mark.parametrize(
    ("name", "settings", "kinds"),
    [
        ("zip_code", {}, []),
        ("weight", {"category": ["weight"]}, []),
        ("weight", {}, ["text_in_numbers"]),
    ],
)
def test_codes_that_are_used_as_categories_are_not_text_among_numbers(name, settings, kinds):
    rng = np.random.default_rng(0)
    codes = rng.choice(["98115", "98112", "98146", "98103", "98117"], 400).tolist()
    codes[50:53] = ["98115-4820", "98112-4729", "98146-1067"]
    frame = pl.DataFrame({name: codes, "size": rng.normal(size=400)})
    assert [check.kind for check in checks_of(frame, **settings)] == kinds


def test_rows_go_by_their_ids_and_those_of_repeated_ids_by_their_numbers():
    invoices = [*range(1000, 1100), 1050]
    sizes = np.random.default_rng(0).normal(50, 3, 101)
    sizes[7] = 4000
    found = odefs.detect(pl.DataFrame({"invoice": invoices, "size": sizes}), id="invoice")
    shown = {
        check.kind: messages.check_rows(check, shown_names(found)[0])
        for check in shown_checks(found)
    }
    assert shown == {"extreme_value": "invoice 1007", "repeated_id": "rows 51, 101"}
    report = found.report()
    for told in (report.html(), report.markdown()):
        assert all(where in told for where in shown.values())


@pytest.mark.parametrize(
    "ids",
    {
        "foreign keys": lambda rng: rng.integers(0, 60, 400),
        "drawn at random": lambda rng: rng.integers(0, 50_000, 400),
        "many repeats": lambda rng: np.concatenate([np.arange(5000, 5380), np.arange(5000, 5020)]),
        "codes": lambda rng: [f"{a}{b}" for a, b in rng.integers(0, 99, (400, 2)).tolist()],
        "codes in two parts": lambda rng: [f"{a}-{b}" for a, b in rng.integers(0, 99, (400, 2))],
        "no repeats": lambda rng: np.arange(5000, 5400),
    }.values(),
)
def test_ids_that_repeat_by_chance_are_not_named(ids):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"customer_id": ids(rng), "x": rng.normal(size=400)})
    assert checks_of(frame) == []


def test_ids_of_repeated_rows_are_named_as_rows_only():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"id": np.arange(5000, 5200), **dict(zip("abc", rng.normal(size=(3, 200)), strict=True))}
    )
    frame = pl.concat([frame, frame[20:21]])
    assert rows_by_place(checks_of(frame)) == {("copied_row", None): [200]}


def test_many_repeated_rows_are_not_named_as_ids_too():
    """More rows than a check lists."""
    n_rows, n_copies = 60_000, 550
    cells = np.random.default_rng(0).normal(size=(3, n_rows))
    frame = pl.DataFrame({"order_id": range(n_rows), **dict(zip("abc", cells, strict=True))})
    frame = pl.concat([frame, frame[:n_copies]])
    assert [check.kind for check in checks_of(frame)] == ["copied_row"]


def test_places_may_share_a_code():
    codes = np.arange(1000, 1400)
    codes[10] = codes[11]
    frame = pl.DataFrame({"post_code": codes, "x": np.random.default_rng(0).normal(size=400)})
    assert checks_of(frame) == []


def test_a_hidden_column_does_not_stand_for_a_visible_one():
    cells = np.random.default_rng(0).normal(100, 10, 300)
    cells[7] = 9e9
    frame = pl.DataFrame({"salary": cells, "again": cells, "x": np.arange(300.0) % 13})
    found = odefs.detect(frame, hide=["salary"])
    visible = [check for check in found.checks if not check.concerns(found.hidden)]
    assert [(check.kind, check.column) for check in visible] == [("extreme_value", "again")]


def test_cells_with_another_unit_are_named():
    cells = [f"{60 + k % 17}.5 kg" for k in range(60)]
    cells[7], cells[20], cells[33] = "150.5 lb", "7000.5 kg", "61"
    frame = pl.DataFrame({"weight": cells, "x": np.random.default_rng(0).normal(size=60)})
    assert rows_by_place(checks_of(frame)) == {
        ("text_in_numbers", "weight"): [7],
        ("extreme_value", "weight"): [20],
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    {
        "Yield %": "impossible_value",
        "yield_percent": "impossible_value",
        "Humidity (%)": "impossible_value",
        "Growth %": "extreme_value",
        "Age %": "extreme_value",
        "yield": "extreme_value",
    }.items(),
)
def test_a_percent_sign_in_a_name_implies_a_range(name, kind):
    cells = np.random.default_rng(0).normal(92, 2, 100).clip(80, 99.5)
    cells[31] = 930
    frame = pl.DataFrame({name: cells})
    assert rows_by_place(checks_of(frame)) == {(kind, name): [31]}


def test_the_further_a_value_lies_the_earlier_it_is_listed():
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(75, 12, 250) for name in ("near", "far", "absurd")}
    columns["near"][3], columns["far"][3], columns["absurd"][3] = 250, 500, 75_000
    columns["dept"] = [*["Sales", "Engineering"] * 124, "Enginering", "Sales"]
    columns["size"] = rng.normal(50, 2, 250)
    columns["size"][9] = 0
    checks = checks_of(pl.DataFrame(columns))
    assert [check.column for check in checks] == ["absurd", "size", "far", "near", "dept"]


def test_columns_with_the_same_cells_are_listed_once():
    cells = np.random.default_rng(0).normal(5, 0.6, 100).round(1)
    cells[40] = -999
    frame = pl.DataFrame({"score": cells, "score (2)": cells, "as text": cells.astype(str)})
    assert [check.column for check in checks_of(frame)] == ["score", "as text"]
    # The same check of other cells is another one.
    other = np.roll(np.delete(cells, 40), 1)
    frame = frame.with_columns(pl.Series("score (2)", np.insert(other, 40, -999)))
    assert [check.column for check in checks_of(frame)] == ["score", "score (2)", "as text"]


@pytest.mark.parametrize(("sign", "unit"), [("%", "%"), (" kg", "kg"), ("", "")])
def test_checks_and_reasons_know_the_unit_of_their_column(sign, unit):
    rng = np.random.default_rng(0)
    cells = [f"{one:.1f}{sign}" for one in rng.normal(22, 3, 100)]
    cells[4] = f"220.0{sign}"
    found = odefs.detect(pl.DataFrame({"margin": cells, "x": rng.normal(size=100)}), random_state=0)
    (check,) = found.checks
    assert (check.kind, check.rows, check.values) == (
        "extreme_value",
        (4,),
        (cells[4],),
    )
    (reason,) = found.reasons([4], k=1)[0]
    assert reason.value == pytest.approx(2.2 if unit == "%" else 220)
    assert (check.unit, reason.unit) == (unit, unit)


def test_checks_of_durations_have_their_unit():
    took = [timedelta(minutes=80 + k % 13) for k in range(300)]
    took[7], took[8], took[9] = timedelta(days=400), timedelta(seconds=-500), timedelta(0)
    checks = checks_of(pl.DataFrame({"took": took, "x": np.random.default_rng(0).normal(size=300)}))
    assert {check.kind: check.unit for check in checks} == dict.fromkeys(
        ("extreme_value", "negative"), "duration"
    )


def test_values_are_counted_also_where_not_all_are_held():
    n, n_future = 2_000, 61
    rng = np.random.default_rng(0)
    when = np.datetime64("2015-01-01") + rng.integers(0, 30, n).astype("timedelta64[D]")
    when[:n_future] = np.datetime64("2150-01-01") + np.arange(n_future).astype("timedelta64[D]")
    when[n_future] = np.datetime64("2024-01-01")
    frame = pl.DataFrame({"when": when.astype("datetime64[us]"), "x": rng.normal(size=n)})
    by_kind = {check.kind: check for check in checks_of(frame)}
    assert by_kind["future_date"].n_distinct == n_future
    far = by_kind["extreme_value"]
    assert (far.apart_count, far.apart_distinct) == (n_future, n_future)
    for check in by_kind.values():
        assert f"and {n_future - SHOWN_VALUES} more" in str(check)


def test_repeated_ids_are_counted_also_where_not_all_are_held():
    n, n_repeated = 200_000, 1_500
    ids = np.arange(n) + 1_000
    ids[-n_repeated:] = ids[:n_repeated]
    frame = pl.DataFrame({"key_no": ids, "x": np.random.default_rng(0).normal(size=n)})
    (check,) = [check for check in checks_of(frame) if check.kind == "repeated_id"]
    assert (check.usual_count, len(check.rows)) == (n_repeated, ROWS_KEPT)
    assert f"and {n_repeated - SHOWN_VALUES:,} more" in str(check)


def test_texts_are_counted_also_where_not_all_are_held():
    cells = pl.Series([f"{k}" for k in range(500)] * 160)
    others = pl.Series([f"remark {k // 30}" for k in range(1_200)])
    (check,) = checks_of(pl.DataFrame({"size": pl.concat([cells, others])}))
    assert (check.kind, check.count) == ("text_in_numbers", 1_200)
    assert check.n_distinct == 40
    assert len({*check.values}) < 40
