"""Times are displayed in the time zone of their column, and scores do not depend on it."""

import re
from datetime import UTC, datetime, timedelta, timezone

import dateutil.tz
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odefs
from command import odefs as run
from odefs.models.odefs import ODEFSModel
from odefs.tables.answers.apply import with_answers
from odefs.tables.detect import detect_table, score_table
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.frames.columns import Column, Columns
from odefs.tables.frames.convert import column_cells, columns_of
from odefs.tables.frames.time_zones import SeenZones, zone_of_texts, zone_of_type
from odefs.tables.messages.values import span, value
from odefs.tables.results import hold_rows
from odefs.tables.table import ParquetTable, table_of

ROWS, ODD = 200, 7
SHOWN, IN_UTC = "2039-05-05 00:30", "2039-05-04 22:30"
STAMP = r"20\d\d-\d\d-\d\d(?: \d\d:\d\d)?"


def stamps(zone):
    times = pd.date_range("2031-05-01 00:10", periods=ROWS, freq="13min", tz=zone).to_series()
    times.iloc[ODD] = pd.Timestamp(SHOWN, tz=zone)
    return times.reset_index(drop=True)


def frame_of(times):
    size = np.random.default_rng(0).normal(size=ROWS)
    return pd.DataFrame({"when": times, "size": size})


ZONED = frame_of(stamps("Europe/Berlin"))
LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas of Arrow": lambda frame: frame.astype(
        {"when": pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin"))}
    ),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_typed_columns_are_displayed_in_their_zone(library):
    found = odefs.detect(LIBRARIES[library](ZONED))
    (reason, *_) = found.reasons([ODD])[0]
    assert reason.unit == "Europe/Berlin"
    (check,) = [check for check in found.checks if check.column == "when"]
    report = found.report()
    for shown in (
        str(next(iter(found.top(1)["reasons"]))),
        found._repr_html_(),
        str(check),
        report.html(),
        report.markdown(),
        str(found.explain([ODD])),
    ):
        assert SHOWN in shown
        assert IN_UTC not in shown


def test_scores_do_not_depend_on_the_zone():
    plain = frame_of(stamps("Europe/Berlin").dt.tz_convert("UTC").dt.tz_localize(None))
    np.testing.assert_array_equal(odefs.detect(ZONED).scores, odefs.detect(plain).scores)


def texts(*offsets):
    """Times of a csv file, the odd row in the first offset and the others in turn."""
    times = stamps("+02:00")
    own = [offsets[i % len(offsets)] if i != ODD else offsets[0] for i in range(ROWS)]
    return [str(time.tz_convert(zone)) for time, zone in zip(times, own, strict=True)]


@pytest.mark.parametrize("mode", ["0", "1"])
@pytest.mark.parametrize(
    ("offsets", "shown"),
    [(["+02:00"], SHOWN), (["+02:00", "+01:00"], f"{IN_UTC} UTC"), (["UTC"], IN_UTC)],
)
def test_text_is_displayed_in_its_only_offset_and_otherwise_in_utc(offsets, shown, mode, tmp_path):
    frame_of(texts(*offsets)).to_csv(tmp_path / "t.csv", index=False)
    arguments = ("detect", "t.csv", "-o", "scores.csv", "--report", "t.md")
    done = run(*arguments, cwd=tmp_path, ODEFS_IN_PARTS=mode)
    scores = pl.read_csv(tmp_path / "scores.csv")
    assert scores["reasons"][ODD] == f"when = {shown}"
    for text in (done.stdout, (tmp_path / "t.md").read_text(encoding="utf-8")):
        assert f"when = {shown}" in text


def test_files_in_parts_keep_the_zone(tmp_path):
    pq.write_table(pa.Table.from_pandas(ZONED), tmp_path / "t.parquet")
    options = ("-o", "s.csv", "--save", "m.odefs", "--force", "--no-report")
    for mode in ("0", "1"):
        done = run("detect", "t.parquet", *options, cwd=tmp_path, ODEFS_IN_PARTS=mode)
        assert f"when = {SHOWN}" in done.stdout
        assert pl.read_csv(tmp_path / "s.csv")["reasons"][ODD] == f"when = {SHOWN}"
    # New rows are displayed in their own zone, whatever that of training was.
    other = ZONED.assign(when=ZONED["when"].dt.tz_convert("Asia/Tokyo"))
    pq.write_table(pa.Table.from_pandas(other), tmp_path / "new.parquet")
    done = run("score", "m.odefs", "new.parquet", "-o", "-", cwd=tmp_path)
    assert "when = 2039-05-05 07:30" in done.stdout


def with_one_other_offset():
    """Texts in one offset, but for an ordinary row."""
    times = texts("+02:00")
    rest = stamps("+02:00").sort_values().index[ROWS // 2]
    times[rest] = str(stamps("+02:00")[rest].tz_convert("+01:00"))
    return frame_of(times), rest


def test_rows_that_are_held_in_parts_have_the_zone_of_all_rows(tmp_path, monkeypatch):
    frame, other = with_one_other_offset()
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    for name in ("TOP_ROWS", "DRAWN_ROWS", "FLAGGED_ROWS"):
        monkeypatch.setattr(hold_rows, name, 10)
    for table in (table_of(frame), ParquetTable([tmp_path / "t.parquet"])):
        found = detect_table(table, ODEFSModel(n_estimators=3), ColumnEncoder())
        again = with_answers(found, [ODD], [True], table)
        scored, _ = score_table(table, found.model, found.encoder)
        for detection in (found, again, scored):
            held = detection.extent.numbers
            assert (other in held) == table.is_in_memory
            assert detection.table["when"].zone == "UTC"


def test_batches_without_times_have_no_zone():
    seen = SeenZones()
    known, none = np.array([0.0, np.nan]), np.array([np.nan])
    for name, cells, zone in [
        ("one", known, "+02:00"),
        ("one", none, ""),
        ("two", known, "+02:00"),
        ("two", known, ""),
        ("plain", known, ""),
    ]:
        seen.add(Columns((Column(name, "time", cells, zone=zone),), cells.size))
    assert seen.of_columns() == {"one": "+02:00", "two": "UTC", "plain": ""}


@pytest.mark.parametrize(
    ("zone", "end", "local"),
    [
        ("Europe/Berlin", datetime(9999, 12, 31, 23, 59, 59), "10000-01-01 00:59:59"),
        ("America/New_York", datetime(1, 1, 1), "0000-12-31 19:03:58"),
    ],
)
def test_times_that_python_lacks_in_their_zone_are_text(zone, end, local):
    days = [*pd.date_range("2031-05-01", periods=58).to_pydatetime(), None, end]
    when = pl.Series("when", days, dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    frame = pl.DataFrame({"when": when, "size": np.random.default_rng(0).normal(size=60)})
    first, *_, missing, last = column_cells(frame, "when")
    assert first == days[0].replace(tzinfo=UTC)
    assert missing is None
    assert last.startswith(local)
    assert local in odefs.detect(frame).report().html()
    assert odefs.detect(frame, id="when").row_names[-1] == last


def test_values_are_formatted_in_a_zone():
    midnight = pd.Timestamp("2031-05-05", tz="Europe/Berlin").timestamp()
    assert value(midnight, "time", unit="Europe/Berlin") == "2031-05-05"
    assert value(midnight, "time") == "2031-05-04 22:00"
    assert value(midnight + 7200, "time", unit="UTC") == "2031-05-05 00:00 UTC"
    assert value(midnight, "time", unit="+05:30") == "2031-05-05 03:30"
    # A column with a zone has no times of day, and an unknown zone is not passed over in silence.
    assert value(3600, "time", unit="Europe/Berlin") == "1970-01-01 02:00"
    assert value(midnight, "time", unit="No/Where") == "2031-05-04 22:00 UTC"
    # In its zone, this is no longer a date that Python has.
    assert value(253402300799, "time", unit="Asia/Tokyo") == "9999-12-31 23:59 UTC"
    both = re.findall(STAMP, span((midnight, midnight + 3600), "time", unit="Europe/Berlin"))
    assert both == ["2031-05-05", "2031-05-05 01:00"]


@pytest.mark.parametrize(
    ("zone", "expected"),
    [(None, ""), ("UTC", ""), ("+00:00", ""), ("Etc/UTC", ""), ("Asia/Tokyo", "Asia/Tokyo")],
)
def test_zones_of_types(zone, expected):
    assert zone_of_type(zone) == expected
    column = columns_of(pa.table({"t": pa.array([0], pa.timestamp("us", zone))}))["t"]
    assert column.zone == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("Etc/GMT+5", "Etc/GMT+5"),
        ("EST5EDT", "EST5EDT"),
        ("GMT0", "GMT0"),
        ("Asia/Kathmandu", "Asia/Kathmandu"),
        (UTC, ""),
        (timezone(timedelta(hours=2)), "UTC+02:00"),
        (dateutil.tz.tzutc(), ""),
        (dateutil.tz.tzoffset("here", -5400), "UTC-01:30"),
        (dateutil.tz.gettz("Europe/Berlin"), "Europe/Berlin"),
    ],
)
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_zones_of_pandas(zone, expected, unit):
    times = pd.Series(pd.date_range("2031-05-05", periods=3, tz=zone, unit=unit))
    times[1] = None
    column = columns_of(pd.DataFrame({"when": times}))["when"]
    assert (column.kind, column.zone) == ("time", expected)
    first, last = times[0].timestamp(), times[2].timestamp()
    np.testing.assert_array_equal(column.values, [first, np.nan, last])


def test_zones_of_texts():
    assert zone_of_texts([]) == zone_of_texts(["2031-05-05", "2031-05-05T10:00Z"]) == ""
    assert zone_of_texts(["2031-05-05 10:00+02", "2031-05-05T10:00:00.5+0200"]) == "+02:00"
    assert zone_of_texts(["2031-05-05 10:00-03:30"]) == "-03:30"
    assert zone_of_texts(["2031-05-05 10:00+02:00", "2031-05-05 10:00"]) == "UTC"
