"""Tables and queries of databases: SQLite, DuckDB and PostgreSQL."""

import datetime as dt
import sqlite3
from contextlib import closing

import polars as pl
import pytest

import odefs as package
from command import odefs
from odefs._progress import listening
from odefs.exceptions import TableError
from odefs.tables.readers.columnar import to_parquet
from odefs.tables.readers.sources.sqlite import quoted
from opening import in_both_modes, read
from postgresql_server import ENCODED, PASSWORD, postgresql

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, None, 2.5]})


def sqlite(path, tables=("t",), rows=None):
    with closing(sqlite3.connect(path)) as opened:
        for table in tables:
            opened.execute(f"CREATE TABLE {quoted(table)} (a, b, c)")
            opened.executemany(
                f"INSERT INTO {quoted(table)} VALUES (?, ?, ?)", rows or FRAME.rows()
            )
        opened.commit()
    return path


def duck(path, tables=("t",)):
    import duckdb

    with closing(duckdb.connect(str(path))) as opened:
        for table in tables:
            opened.execute(f"CREATE TABLE {quoted(table)} (a BIGINT, b VARCHAR, c DOUBLE)")
            opened.executemany(f"INSERT INTO {quoted(table)} VALUES (?, ?, ?)", FRAME.rows())
    return path


FILES = {"t.sqlite": sqlite, "t.sqlite3": sqlite, "t.db": sqlite, "t.duckdb": duck, "u.db": duck}


@pytest.mark.parametrize("name", FILES)
@in_both_modes
def test_the_only_table_is_read(mode, name, tmp_path):
    found = read(FILES[name](tmp_path / name), mode)
    assert found.frame.rows() == FRAME.rows()
    assert found.columns == FRAME.columns
    assert found.source[0] == name


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb"])
@in_both_modes
def test_tables_and_queries_are_chosen(mode, name, tmp_path):
    path = FILES[name](tmp_path / name, ('my "t', "other"))
    # DuckDB does not support question marks in names.
    other = f"ü %20{'?' if name == 't.sqlite' else ''}{name}"
    path = path.rename(tmp_path / other)
    found = read(path, mode, table='my "t')
    assert found.frame.rows() == FRAME.rows()
    assert found.source[0] == f'{other} (my "t)'
    found = read(path, mode, query="WITH q AS (SELECT a, c FROM other) SELECT * FROM q; ")
    assert found.frame.rows() == FRAME.select("a", "c").rows()
    found = read(path, mode, query="SELECT a AS x FROM other ORDER BY a DESC -- a comment")
    assert found.frame.rows() == [(3,), (2,), (1,)]
    for wrong in (None, "nowhere"):
        with pytest.raises(TableError, match=r"my \"t, other"):
            read(path, mode, table=wrong)


def test_large_integers_next_to_fractions_are_read(tmp_path):
    rows = [(2**60 + 1, "x", 2**60), (0.5, "y", 2**60 + 1), (None, "z", 3)]
    found = read(sqlite(tmp_path / "t.sqlite", rows=rows), "in memory").frame
    assert found["a"].to_list() == [float(2**60), 0.5, None]
    assert found["c"].to_list() == [2**60, 2**60 + 1, 3]


def test_an_endless_view_of_sqlite_can_be_interrupted(tmp_path):
    path = sqlite(tmp_path / "t.sqlite")
    with closing(sqlite3.connect(path)) as opened:
        opened.execute(
            "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i FROM n"
        )
    seen = []

    def interrupt(*_):
        seen.append(None)
        if len(seen) > 3:
            raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        read(path, "in memory", table="v")


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb"])
@pytest.mark.parametrize("query", ["DROP TABLE t", "SELECT nowhere.x FROM t", "ATTACH 'x.db' AS x"])
def test_a_query_only_reads(query, name, tmp_path):
    path = FILES[name](tmp_path / name)
    before = path.read_bytes()
    with pytest.raises(TableError) as caught:
        read(path, "in memory", query=query)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_cells_of_several_types_in_a_column_keep_their_values(tmp_path):
    rows = [(1, 2, "x"), (2.5, "y", b"z"), (None, None, None), (3, 0.1, 2**62)]
    found = read(sqlite(tmp_path / "t.sqlite", rows=rows), "in memory")
    assert found.frame["a"].to_list() == [1.0, 2.5, None, 3.0]
    assert found.frame["b"].to_list() == ["2", "y", None, "0.1"]
    assert found.frame["c"].to_list() == ["x", "z", None, str(2**62)]


def test_rows_are_fetched_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(to_parquet, "BATCH_CELLS", 3)
    rows = [(i, f"x{i % 9}", i / 7) for i in range(2000)]
    path = sqlite(tmp_path / "t.sqlite", rows=rows)
    assert read(path, "in memory").frame.rows() == read(path, "in parts").frame.rows() == rows


def test_a_view_that_makes_rows_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("odefs.tables.readers.limits.ALWAYS_BYTES", 10**6)
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as opened:
        opened.execute(
            "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            "WHERE i < 400000) SELECT i, i AS j FROM n"
        )
        opened.commit()
    with pytest.raises(TableError, match="times the size of the file"):
        read(path, "in memory")


BAD = {
    "no tables": (b"", "the database has no tables"),
    "another database": (b"\x00\x01Standard Jet DB", "neither a SQLite nor a DuckDB database"),
    "damaged": (b"SQLite format 3\x00" + bytes(4000), "t.db: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_database_gives_one_sentence(name, tmp_path):
    content, sentence = BAD[name]
    (tmp_path / "t.db").write_bytes(content)
    with pytest.raises(TableError) as caught:
        read(tmp_path / "t.db", "in memory")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_duckdb_file_cannot_read_others(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n2\n")
    path = duck(tmp_path / "t.duckdb")
    with pytest.raises(TableError, match="disabled"):
        read(path, "in memory", query=f"SELECT * FROM '{tmp_path}/secret.csv'")


def test_rows_that_duckdb_moves_out_of_memory_are_not_next_to_the_database(tmp_path):
    path = duck(tmp_path / "t.duckdb")
    query = "SELECT current_setting('temp_directory') AS folder FROM range(2)"
    found = read(path, "in memory", query=query)
    assert not found.frame["folder"][0].startswith(str(tmp_path))


def test_types_that_parquet_lacks_are_converted(tmp_path):
    import duckdb

    path = tmp_path / "t.duckdb"
    with closing(duckdb.connect(str(path))) as opened:
        opened.execute(
            "CREATE TABLE t AS SELECT 1::HUGEINT AS h, INTERVAL 1 DAY AS i, "
            "DATE '2025-04-03' AS d, 1.5::DECIMAL(8, 2) AS n, true AS b FROM range(2)"
        )
    row = read(path, "in memory").frame.row(0)
    assert row[:3] == (1.0, "1 day", dt.date(2025, 4, 3))
    assert (float(row[3]), row[4]) == (1.5, True)


def test_messages_name_options_as_the_user_writes_them(tmp_path):
    path = sqlite(tmp_path / "t.sqlite", ("t", "u"))
    with pytest.raises(TableError, match="choose one with --table NAME"):
        read(path, "in memory")
    with pytest.raises(TableError, match="choose one with table=NAME"):
        package.detect(path)
    with pytest.raises(TableError, match="table= and query= are mutually exclusive"):
        package.detect(path, table="t", query="SELECT 1")
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    with pytest.raises(TableError, match="query= is for databases"):
        package.detect(tmp_path / "t.csv", query="SELECT 1")
    with pytest.raises(TableError, match="--query is for databases"):
        read(tmp_path / "t.csv", "in memory", query="SELECT 1")


def test_python_reads_files_too(tmp_path):
    rows = [(i % 7, f"x{i % 3}", float(i % 11)) for i in range(99)] + [(3, "x1", 900.0)]
    path = sqlite(tmp_path / "t.sqlite", ("t", "u"), rows)
    found = package.detect(path, table="t")
    assert found.order[0] == 99
    assert found.source["name"] == "t.sqlite (t)"
    assert package.detect(str(path), query="SELECT * FROM u").scores.tolist() == (
        found.scores.tolist()
    )
    with pytest.raises(TableError, match="give only one"):
        package.detect(path, table="t", query="SELECT 1")
    with pytest.raises(TableError, match="not for data frames"):
        package.detect(FRAME, table="t")


def test_contradictions_are_refused_before_any_work(tmp_path):
    sqlite(tmp_path / "t.sqlite")
    both = odefs("detect", "t.sqlite", "--table", "t", "--query", "SELECT 1", cwd=tmp_path)
    assert both.returncode == 2
    assert "mutually exclusive" in both.stderr
    # Nothing is listening at the address: the option is refused first.
    sheet = odefs("detect", "postgresql://127.0.0.1:1/x", "--sheet", "a", cwd=tmp_path)
    assert sheet.returncode == 1
    assert "--sheet is for Excel files" in sheet.stderr


@pytest.mark.slow
def test_postgresql(tmp_path):
    from adbc_driver_postgresql import dbapi

    with postgresql() as address:
        with dbapi.connect(address) as opened, opened.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE kinds AS SELECT i AS a, i % 11 AS c, (i % 7)::numeric / 4 AS n, "
                "'x' || i % 5 AS t, date '2025-01-01' + i AS d, interval '1 day' AS v, "
                "gen_random_uuid() AS u, '{}'::jsonb AS j, 5.5::numeric::money AS m, "
                "'1.2.3.4'::inet AS ip, i % 2 = 0 AS b FROM generate_series(1, 60) i"
            )
            opened.commit()
        for mode in ("in memory", "in parts"):
            found = read(address, mode)
            assert found.source[0] == "postgres"
            assert found.frame.height == 60
            row = found.frame.row(2, named=True)
            assert (row["a"], row["n"], row["t"], row["m"]) == (3, 0.75, "x3", 5.5)
            assert (row["d"], row["v"], row["b"]) == (dt.date(2025, 1, 4), "1 day", False)
            assert (row["j"], row["ip"]) == ("{}", "1.2.3.4/32")
            assert read(address, mode, table="public.kinds").frame.rows() == found.frame.rows()
            chosen = read(address, mode, query="SELECT a, n FROM kinds WHERE a < 5 ORDER BY a;")
            assert chosen.frame.rows() == [(1, 0.25), (2, 0.5), (3, 0.75), (4, 1.0)]
        _require_sentences(address)
        _require_no_password(address, tmp_path)


@pytest.mark.parametrize(
    "address",
    [
        "POSTGRESQL://me:hunt%65r2@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?user=me&password=hunter2%zz",
        "postgresql://127.0.0.1:1/x?password=hunter1&hunter2",
        "postgresql://127.0.0.1:1/x?password=hunter#2",
        "postgresql://me:hunter 2@127.0.0.1:1/x",
    ],
)
def test_passwords_in_wrong_addresses_are_not_shown(address):
    with pytest.raises(TableError) as caught:
        read(address, "in memory")
    assert "hunt" not in str(caught.value)
    assert caught.value.__cause__ is None


def _require_sentences(address):
    other = address.partition("@")[2]
    for wrong, options, sentence in (
        (address, {"table": "nowhere"}, "no table 'nowhere', only kinds"),
        (address, {"query": "SELECT nowhere FROM kinds"}, 'column "nowhere" does not exist'),
        (address, {"query": "DROP TABLE kinds"}, "syntax error"),
        (address, {"query": "SELECT 1 AS a, 2 AS a"}, "two columns of the query are called 'a'"),
        (address, {"query": "SELECT 1 / (50 - a) FROM kinds"}, "division by zero"),
        (f"postgresql://tester:hunter2@{other}", {}, "password authentication failed"),
        (f"postgresql://tester:{PASSWORD}@{other}", {}, "the address cannot be read"),
        (f"postgresql://tester:hunter2%zz@{other}", {}, "the address cannot be read"),
        (address.replace("/postgres", "/nowhere"), {}, 'database "nowhere" does not exist'),
        ("postgresql://me:hunter2@127.0.0.1:1/x", {}, "Connection refused"),
    ):
        with pytest.raises(TableError) as caught:
            read(wrong, "in memory", **options)
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__cause__ is None  # the driver's own error may quote the address


def _require_no_password(address, folder):
    options = ("--save", "m.odefs", "-o", "s.csv", "--report", "r.html", "--id", "a")
    found = odefs("detect", address, "--table", "kinds", *options, cwd=folder)
    assert found.returncode == 0, found.stderr
    document = odefs("score", "m.odefs", address, "--json", cwd=folder)
    assert document.returncode == 0, document.stderr
    failed = odefs("detect", address, "--table", "nowhere", "--debug", cwd=folder)
    assert failed.returncode == 1
    shown = [text for done in (found, document, failed) for text in (done.stdout, done.stderr)]
    written = [(folder / name).read_bytes() for name in ("m.odefs", "s.csv", "r.html")]
    for content in (*(text.encode() for text in shown), *written):
        assert ENCODED.encode() not in content
        assert b"hunter2" not in content
    assert "tester:***@" in document.stdout
