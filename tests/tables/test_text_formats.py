"""Text that is really numbers or dates."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import odefs
from command import odefs as run
from odefs.tables.encoder.format_details import format_details
from odefs.tables.encoder.text_formats import (
    TEXT_FORMATS,
    format_named,
    read_levels,
    recognise,
    unit_of,
)

READ = {
    "decimal comma": (["1,5", "2,25", "-3,0"], "numbers with decimal comma", [1.5, 2.25, -3]),
    "decimal comma with points": (
        ["1.234,56", "12,50"],
        "numbers with decimal comma",
        [1234.56, 12.5],
    ),
    "thousands commas": (["1,234", "2,345,678"], "numbers", [1234, 2345678]),
    "thousands blanks": (["1 234,5", "23,0"], "numbers with decimal comma", [1234.5, 23]),
    "thousands apostrophes": (["1'234.5", "23.0"], "numbers", [1234.5, 23]),
    "Swiss thousands": (
        ["1\u2019234.50", "23.0", "1\u2019234\u2019567"],
        "numbers",
        [1234.5, 23, 1234567],
    ),
    "a minus behind": (
        ["12.50-", "3.00", "1,234.50 -", "0.5- EUR"],
        "numbers",
        [-12.5, 3, -1234.5, -0.5],
    ),
    "a minus behind decimal commas": (
        ["12,50-", "3,00", "1.234,50-"],
        "numbers with decimal comma",
        [-12.5, 3, -1234.5],
    ),
    "dollars": (["$1,234.50", "$3.00", "-$2.00", "$-1.00"], "numbers", [1234.5, 3, -2, -1]),
    "euros behind": (["12,50 €", "3,00 €"], "numbers with decimal comma", [12.5, 3]),
    "currency names": (["USD 12.5", "EUR 3"], "numbers", [12.5, 3]),
    "thousands points without decimals": (
        ["952 €", "1.032 €", "12.500 €"],
        "numbers with decimal comma",
        [952, 1032, 12500],
    ),
    "percentages": (["12.5%", "3 %"], "numbers (%)", [0.125, 0.03]),
    "percentages with decimal comma": (
        ["12,5%", "3 %"],
        "numbers with decimal comma (%)",
        [0.125, 0.03],
    ),
    "some percentages": (["12.5%", "3 %", "0.5"], "numbers", [0.125, 0.03, 0.5]),
    "accounting": (["(12.50)", "3.00"], "numbers", [-12.5, 3]),
    "minus sign": (["\u22125", "4"], "numbers", [-5, 4]),
    "exponents": (["1e5", "2.5E-3"], "numbers", [1e5, 2.5e-3]),
    "day-first by the point": (
        ["12.03.2020", "31.12.2021"],
        "day-first dates",
        [1583971200, 1640908800],
    ),
    "day-first by a 25": (
        ["25/03/2020", "04/01/2020"],
        "day-first dates",
        [1585094400, 1578096000],
    ),
    "month-first by a 25": (
        ["03/25/2020", "04/01/2020"],
        "month-first dates",
        [1585094400, 1585699200],
    ),
    "month-first with AM and PM": (
        ["03/25/2020 12:30 AM", "4/1/2020 1:05:10 PM", "4/1/20 1:05p"],
        "month-first dates",
        [1585096200, 1585746310, 1585746300],
    ),
    "names of months": (
        [
            *("25 March 2020", "25-Mar-20", "Mar 25, 2020", "Wed, 25 Mar 2020", "March 25th, 2020"),
            *("Wed 25 Mar 2020 01:30:00 +0130", "25/Mar/2020:02:00:00 +0200", "Sept 1 2020"),
            *("Mar 25, 2020 12:00 p.m.", "May 2020", "25 Mar 2020 00:00:02.0625"),
        ],
        "dates with month names",
        [*[1585094400] * 7, 1598918400, 1585137600, 1588291200, 1585094402.0625],
    ),
    "compact dates": (
        ["20200101", "20200102", "20200325"],
        "YYYYMMDD dates",
        [1577836800, 1577923200, 1585094400],
    ),
    "numbers of eight digits": (
        ["20200101", "20209902", "20200325"],
        "numbers",
        [20200101, 20209902, 20200325],
    ),
    "times with AM and PM": (["12:05 am", "1:30 PM"], "times of day", [300, 48600]),
    "further currencies": (["₪499", "₪1,200"], "numbers", [499, 1200]),
    "iso": (
        ["2020-01-01", "2020-01-01T10:00:00Z", "2020-01-01 10:00:00+01:00"],
        "ISO dates",
        [1577836800, 1577872800, 1577869200],
    ),
    "units": (["70.5 kg", "71 kg", "1,080.25kg"], "numbers (kg)", [70.5, 71, 1080.25]),
    "units with decimal comma": (
        ["70,5 kg", "71,2 kg", "1.080,25 kg"],
        "numbers with decimal comma (kg)",
        [70.5, 71.2, 1080.25],
    ),
    "units behind thousands points": (
        ["952 kg", "1.032 kg", "12.500 kg"],
        "numbers with decimal comma (kg)",
        [952, 1032, 12500],
    ),
    "degrees": (["-5 °C", "\u22123°C", "20.5 °C"], "numbers (°C)", [-5, -3, 20.5]),
    "squares": (["12 m²", "13.5 m2", "20 m²"], "numbers (m²)", [12, 13.5, 20]),
    "quotients": (["80 km/h", "90 km/h", "70km/h"], "numbers (km/h)", [80, 90, 70]),
    "singular and plural": (["1 year", "2 years", "30 years"], "numbers (years)", [1, 2, 30]),
    "exponents with units": (["1e5 Pa", "2.5E-3 Pa", "3 Pa"], "numbers (Pa)", [1e5, 2.5e-3, 3]),
    "magnitudes": (
        [*(f"${k}.5K" for k in range(10, 20)), "$9.5M", "$1.2bn", "$950"],
        "numbers (k)",
        [*(k + 0.5 for k in range(10, 20)), 9500, 1.2e6, 0.95],
    ),
    "millions and thousands": (["1.5m", "2.5m", "30.5k"], "numbers (mn)", [1.5, 2.5, 0.0305]),
    "thousands alone": (["70.1K", "82.5K", "9.5K"], "numbers (k)", [70.1, 82.5, 9.5]),
    "magnitudes in words": (
        ["3.5 million", "4 million", "2 billion"],
        "numbers (mn)",
        [3.5, 4, 2000],
    ),
    "kelvin": (["293.5 K", "295.1 K", "300 K"], "numbers (K)", [293.5, 295.1, 300]),
    "metres": (["2.5m", "3.5m", "4.25 M"], "numbers (m)", [2.5, 3.5, 4.25]),
    "bytes": (["3 GB", "4.5 GB", "2 TB", "1 MiB"], "numbers (GB)", [3, 4.5, 2000, 1.048576e-3]),
    "months": (
        ["2020-08", "2021/06", "2009-10"],
        "ISO dates",
        [1596240000, 1622505600, 1254355200],
    ),
    "times": (["10:30", "23:59:59"], "times of day", [37800, 86399]),
    "times with fractions": (["10:30:00.000000000", "23:59:59.9"], "times of day", [37800, 86399]),
    "day-first with fractions": (
        ["12.03.2020 10:30:00.125", "31.12.2021"],
        "day-first dates",
        [1584009000.125, 1640908800],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_is_read(name):
    levels, style, numbers = READ[name]
    found = recognise(levels, np.ones(len(levels)))
    assert found is not None
    assert found.name == style
    # The default tolerance is half an hour among dates.
    assert read_levels(levels, found) == pytest.approx(numbers, rel=1e-12)


MARCH = 1742860800  # 25 March 2025
MIXED = {
    "ISO and day first": (
        ["2025-03-25", "25.03.2025", "04.05.2025", "2025-03-25 10:00"],
        ", day first",
        [MARCH, MARCH, 1746316800, MARCH + 36000],
    ),
    "two ways of writing the day first": (
        ["2025-03-25", "25.03.2025", "25/03/2025", "01/02/2025"],
        ", day first",
        [MARCH, MARCH, MARCH, 1738368000],
    ),
    "month first": (
        ["2025-03-25", "03/25/2025", "04/05/2025", "25 Mar 2025"],
        ", month first",
        [MARCH, MARCH, 1743811200, MARCH],
    ),
    "names of months": (["2025-03-25", "25 Mar 2025", "March 25, 2025"], "", [MARCH] * 3),
    "few with names of months": (
        [*(f"{month:02}/25/2025" for month in range(1, 13)), "04/05/2025", "25 Mar 2025"],
        ", month first",
        [*[None] * 12, 1743811200, MARCH],
    ),
    "few in digits": (
        [*(f"2025-03-{day:02}" for day in range(1, 29)), "25.03.2025", "04.05.2025"],
        ", day first",
        [*[None] * 28, MARCH, 1746316800],
    ),
    "a date that is none": (
        [*(f"2025-03-{day:02}" for day in range(1, 29)), "25 Mar 2025", "13/45/2025"],
        "",
        [*[None] * 28, MARCH, np.nan],
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_dates_in_several_formats_are_read(name):
    levels, order, seconds = MIXED[name]
    found = recognise(levels, np.ones(len(levels)))
    assert found.name == f"dates in several formats{order}"
    read = read_levels(levels, format_named(found.name))
    for value, expected in zip(read, seconds, strict=True):
        assert expected is None or value == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    "levels",
    [
        ["2025-03-25", "2025-03-26", "04.05.2025", "05.06.2025"],
        ["2025-03-25", "25.03.2025", "04/05/2025", "05/06/2025"],
        ["2025-03-25", "25.03.2025", "03/25/2025"],
        ["2025-03-25", "25/03/2025", "03/25/2025"],
    ],
    ids=["no day after the 12th", "in one way only", "both orders", "both orders in one way"],
)
def test_dates_whose_order_is_not_clear_are_not_read(levels):
    assert recognise(levels, np.ones(len(levels))) is None
    cells = [f"{levels[k % len(levels)]} 10:{k:02}" for k in range(60)]
    days = pl.DataFrame({"day": cells, "x": np.random.default_rng(0).normal(size=60)})
    assert odefs.detect(days, random_state=0).left_out["day"].kind == "mixed_dates"


@pytest.mark.parametrize(
    "levels",
    [
        ["a", "b"],
        ["00123", "01234", "12345"],
        ["-", "?"],
        ["1.2.3", "2.3.4"],
        ["A1", "A2"],
        ["12A", "13A", "14A", "14A"],
        ["3rd", "4th", "5th", "6th"],
        ["10XL", "11XL", "12XL"],
        ["5h30", "6h30", "7h30"],
        ["1001AB", "1002AB", "1003AB"],
        ["001 kg", "002 kg", "003 kg"],
        ["5 kg", "6 lb", "7 oz", "8 g"],
        ["2 door", "4 door"],
        ["2008-09", "2009-10", "2010-11"],
        ["2008-13", "2009-14", "2010-15"],
        ["room 1 kg", "room 2 kg", "room 3 kg"],
        ["47.5 N", "48.5 N", "49.5 N", "12.5 S"],
        ["7.50 CR", "8.50 CR", "9.50 CR", "3.25 DR"],
        ["1-2", "3-4"],
        ["1-", "2", "2-", "3-"],
        ["12.-", "13.-", "14,-"],
        ["(5", "6)"],
    ],
    ids=str,
)
def test_is_text(levels):
    assert recognise(levels, np.ones(len(levels))) is None


def test_words_for_missing_do_not_count():
    levels = ["NA", "N/A", "-", "?", "null", "1,5", "2,5"]
    found = recognise(levels, np.ones(len(levels)))
    assert np.isnan(read_levels(levels, found)[:5]).all()
    assert read_levels(levels, found)[5:].tolist() == [1.5, 2.5]


def test_a_few_words_among_numbers_are_missing_and_many_make_it_text():
    numbers = [str(i) for i in range(95)]
    assert recognise([*numbers, "unknown"], np.ones(96)).name == "numbers"
    assert recognise([*numbers, "unknown"], np.r_[np.ones(95), 60.0]) is None


def test_what_was_recognised_is_said():
    levels = ["$1,234.50", "$3.00"]
    assert format_details(levels, recognise(levels, np.ones(2))) == (
        "currencies",
        "thousands_marks",
    )


def test_numbers_with_another_unit_are_not_read():
    levels = [*(f"{k}.5 kg" for k in range(40)), "3 lb", "4%", "heavy", "5"]
    read = read_levels(levels, recognise(levels, np.ones(len(levels))))
    assert np.isnan(read[40:43]).all()
    assert read[43] == 5


@pytest.mark.parametrize(("usual", "rare", "is_text"), [("K", "M", False), (" N", " S", True)])
def test_one_other_suffix_among_many_numbers_counts(usual, rare, is_text):
    """Also if the format is chosen on a sample without it."""
    levels = [*(f"{k}.5{usual}" for k in range(4999)), f"9.5{rare}"]
    found = recognise(levels, np.ones(len(levels)))
    assert (found is None) == is_text
    assert is_text or format_named(found.name).read(levels[-1]) == 9500


CODES = {
    "registrations": ["711 ABC", "895 ABC", "544 ABC"],
    "postcodes": ["1061 AA", "1000 AA", "1036 AA"],
    "articles": ["1965XY", "1958XY", "1455XY"],
    "days": ["24 May", "11 May", "3 May"],
    "days with a short name": ["24 Sept", "11 Sept", "3 Sept"],
    "decades": ["1960s", "1970s", "1980s", "90s"],
    "times of day": ["1030h", "930h", "2130h"],
    "capitals in a quotient": ["12 AB/CD", "13 AB/CD", "14 AB/CD"],
}


@pytest.mark.parametrize("name", CODES)
def test_codes_and_dates_that_repeat_are_text_unless_asked_for(name):
    levels = CODES[name]
    assert recognise(levels, np.full(len(levels), 5.0)) is None
    assert recognise(levels, np.full(len(levels), 5.0), is_number=True).kind == "number"


@pytest.mark.parametrize(
    "unit",
    [" KG", "KB", " MHZ", " LBS", " KM/H", " KG/M2", " YEARS", " SEK", "s", "h", " h", " Hz"],
)
def test_units_may_follow_whole_numbers(unit):
    levels = [f"{number}{unit}" for number in (12, 15, 18, 24)]
    assert recognise(levels, np.full(4, 5.0)).name == f"numbers ({unit.strip()})"


def test_unknown_units_in_capitals_may_follow_decimals():
    levels = ["3.25 ABC", "4 ABC", "5.5 ABC"]
    assert recognise(levels, np.ones(3)).name == "numbers (ABC)"


def test_whole_numbers_with_letters_are_numbers_if_they_repeat_or_if_asked_for():
    levels = ["200km", "210km", "190km"]
    assert recognise(levels, np.ones(3)) is None
    assert recognise(levels, np.array([1, 2, 1])).name == "numbers (km)"
    assert recognise(levels, np.ones(3), is_number=True).name == "numbers (km)"


@pytest.mark.parametrize("name", [*TEXT_FORMATS, "numbers (kg)", "numbers (km/h)", "numbers (%)"])
def test_formats_are_found_by_name(name):
    assert format_named(name).name == name
    assert unit_of(name) == (name.partition("(")[2][:-1])


@pytest.mark.parametrize(
    "name", ["", "numbers ()", "numbers (k g)", "numbers (12)", "ISO dates (kg)", "numbers (kg) "]
)
def test_other_names_are_unknown(name):
    assert format_named(name) is None


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 2)), min_size=3, unique=True),
    st.sampled_from(["kg", "°C", "km/h", "m²", "years"]),
)
def test_formatted_quantities_are_read_back(values, unit):
    english = [f"{value:,.2f} {unit}" for value in values]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    for levels in (english, german):
        found = recognise(levels, np.ones(len(levels)))
        assert read_levels(levels, format_named(found.name)) == pytest.approx(values)


@given(st.lists(st.text(alphabet="0123456789.,- kgm°²/%A()$", max_size=12), min_size=1))
def test_any_cells_are_read_or_refused(levels):
    found = recognise(levels, np.ones(len(levels)))
    assert found is None or read_levels(levels, found).shape == (len(levels),)


@given(st.lists(st.floats(-1e9, 1e9).map(lambda v: round(v, 2)), min_size=3, unique=True))
def test_formatted_numbers_are_read_back(values):
    english = [f"{value:,.2f}" for value in values]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    for levels in (english, german):
        found = recognise(levels, np.ones(len(levels)))
        assert read_levels(levels, found) == pytest.approx(values)


def test_long_runs_of_spaces_do_not_hang():
    """A cell of a thousand spaces once took minutes, by backtracking in a regular expression."""
    for text in (
        "-" + " " * 50_000 + "x",
        "1" + " " * 50_000 + "x",
        "1 " * 20_000 + "x",
        "1" * 50_000 + "kg",
        "- $ -" + " 1" * 20_000 + "x",
    ):
        assert recognise([text, "b"], np.array([9, 1])) is None
    assert read_levels(["-" + " " * 5_000 + "$ 5"], TEXT_FORMATS["numbers"]).tolist() == [-5.0]


def compact_days(n=200):
    days = np.datetime64("2019-12-01") + np.arange(n)
    return np.array([int(str(day).replace("-", "")) for day in days])


def kinds_of(frame, **options):
    found = odefs.detect(frame, random_state=0, **options)
    return {name: found.table[name].kind for name in found.encoder.columns}, found


def test_whole_numbers_that_are_dates_are_read_as_dates():
    values = np.random.default_rng(0).normal(size=200)
    days = compact_days()
    kinds, found = kinds_of(pl.DataFrame({"day": days, "x": values}))
    assert kinds == {"day": "time", "x": "number"}
    assert [(n.kind, n.column, n.format) for n in found.notes] == [
        ("text_format", "day", "YYYYMMDD dates")
    ]
    # A single wrong date is missing; more of them show that the numbers are not dates.
    for n_wrong, kind in ((1, "time"), (20, "number")):
        wrong = np.where(np.arange(200) < n_wrong, 20191399, days)
        kinds, found = kinds_of(pl.DataFrame({"day": wrong, "x": values}))
        assert kinds["day"] == kind
        assert any(note.kind == "unreadable_cells" for note in found.notes) == (kind == "time")
    for other in (np.arange(200) * 37 + 20_190_000, days / 10, days + 0.5):
        assert kinds_of(pl.DataFrame({"day": other, "x": values}))[0]["day"] == "number"
    assert kinds_of(pl.DataFrame({"day": days, "x": values}), number=["day"])[0]["day"] == "number"


def test_a_model_reads_dates_of_eight_digits_as_in_training():
    frame = pl.DataFrame({"day": compact_days(), "x": np.random.default_rng(0).normal(size=200)})
    found = odefs.detect(frame, random_state=0)
    expected = found.score(frame)
    for day in (pl.Int64, pl.Float64, pl.String):
        assert np.array_equal(found.score(frame.with_columns(frame["day"].cast(day))), expected)


def test_files_and_models_read_dates_in_several_formats_alike(tmp_path):
    days = np.datetime64("2025-01-01") + np.random.default_rng(0).integers(0, 300, 120)
    plain = pl.DataFrame({"day": days, "x": np.random.default_rng(1).normal(size=120)})
    formats = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%d %b %Y")
    texts = [day.strftime(formats[k % 4]) for k, day in enumerate(plain["day"])]
    frame = plain.with_columns(day=pl.Series(texts))
    frame.write_csv(tmp_path / "t.csv")
    frame.write_excel(tmp_path / "t.xlsx")
    # In these rows alone, the order of day and month is not clear.
    new = pl.DataFrame({"day": ["03/04/2025", "2025-04-03", "03.04.2025"], "x": [0.0, 0.0, 0.0]})
    new.write_csv(tmp_path / "new.csv")
    trained = odefs.detect(frame, random_state=0)
    assert np.array_equal(trained.scores, odefs.detect(plain, random_state=0).scores)
    assert [(note.kind, note.format) for note in trained.notes] == [
        ("text_format", "dates in several formats, day first")
    ]
    for suffix, in_parts in (("csv", ""), ("csv", "1"), ("xlsx", "")):
        where = {"cwd": tmp_path, "ODEFS_IN_PARTS": in_parts}
        options = ("--save", "m.odefs", "-o", "t.parquet", "--no-report", "--force")
        assert run("detect", f"t.{suffix}", *options, **where).returncode == 0
        line = ("score", "m.odefs", "new.csv", "-o", "new.parquet", "--force")
        assert run(*line, **where).returncode == 0
        old, scores = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("t", "new"))
        assert np.array_equal(old["score"], trained.scores)
        assert np.array_equal(scores["score"], trained.score(new))
        assert scores["score"].n_unique() == 1


def test_a_model_reads_amounts_as_in_training():
    amounts = np.random.default_rng(0).normal(0, 4000, size=200).round(2)
    swiss = [f"{amount:,.2f}".replace(",", "\u2019") for amount in amounts]
    behind = [f"{abs(amount):.2f}{'-' if amount < 0 else ''}" for amount in amounts]
    plain = pl.DataFrame({"amount": amounts, "x": np.random.default_rng(1).normal(size=200)})
    for cells in (swiss, behind):
        frame = plain.with_columns(amount=pl.Series(cells))
        kinds, found = kinds_of(frame)
        assert kinds["amount"] == "number"
        assert not found.left_out
        usual = odefs.detect(plain, random_state=0)
        assert np.array_equal(found.scores, usual.scores)
        assert np.array_equal(usual.score(frame), usual.score(plain))
        assert np.array_equal(found.score(plain), found.score(frame))
