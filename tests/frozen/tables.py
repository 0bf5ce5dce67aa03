"""Input files of the recorded runs: each function in ``FILES`` writes into a folder."""

import csv
import gzip
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

from .content import mixed, with_codes, with_formulas, with_known, with_label

FILES = {}


def _file(make):
    FILES[make.__name__] = make
    return make


def _cell(value, decimal):
    if value is None:
        return ""
    if isinstance(value, float) and decimal != ".":
        return str(value).replace(".", decimal)
    return str(value)


def as_text(table, delimiter=",", decimal=".", header=True, quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    if header:
        writer.writerow(table)
    writer.writerows(
        [_cell(value, decimal) for value in row] for row in zip(*table.values(), strict=True)
    )
    return text.getvalue()


def _save(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))


def as_arrow(table, **types):
    arrays = {name: pa.array(values, types.get(name)) for name, values in table.items()}
    return pa.table(arrays)


@_file
def plain_csv(folder: Path):
    _save(folder / "table.csv", as_text(mixed()))


@_file
def bom_csv(folder):
    _save(folder / "table.csv", as_text(mixed(90, 1)), "utf-8-sig")


@_file
def cp1252_csv(folder):
    _save(folder / "table.csv", as_text(mixed(100, 2)), "cp1252")


@_file
def utf16_csv(folder):
    _save(folder / "table.csv", as_text(mixed(110, 3)), "utf-16")


@_file
def gz_csv(folder):
    (folder / "table.csv.gz").write_bytes(gzip.compress(as_text(mixed(120, 4)).encode(), mtime=0))


@_file
def comma_csv(folder):
    _save(folder / "table.csv", as_text(mixed(130, 5), ";", ","))


@_file
def ragged_csv(folder):
    lines = as_text(mixed(140, 6)).splitlines()
    lines[20::31] = [line.rsplit(",", 2)[0] for line in lines[20::31]]
    _save(folder / "table.csv", "\n".join(lines) + "\n")


@_file
def no_header_csv(folder):
    _save(folder / "table.csv", as_text(mixed(150, 7), header=False))


@_file
def duplicate_csv(folder):
    lines = as_text(mixed(160, 8)).splitlines(keepends=True)
    lines[0] = lines[0].replace("weight", "price").replace("noise", "")
    _save(folder / "table.csv", "".join(lines))


@_file
def newline_csv(folder):
    table = mixed(100, 9)
    table["shop"] = [name and name.replace("a", "a\n", 1) for name in table["shop"]]
    table["remark"] = ['said "no", left' if k % 9 == 0 else "a, b" for k in range(100)]
    _save(folder / "table.csv", as_text(table, quoting=csv.QUOTE_ALL))


@_file
def codes_csv(folder):
    _save(folder / "table.csv", as_text(with_codes(mixed(200, 10))))


@_file
def plain_tsv(folder):
    _save(folder / "table.tsv", as_text(mixed(90, 11), "\t"))


@_file
def bar_dat(folder):
    _save(folder / "table.dat", as_text(mixed(90, 12), "|"))


@_file
def label_csv(folder):
    _save(folder / "table.csv", as_text(with_label(with_known(mixed(300, 13)))))


@_file
def formula_csv(folder):
    _save(folder / "table.csv", as_text(with_formulas(mixed(80, 14))))


@_file
def plain_parquet(folder):
    pq.write_table(as_arrow(mixed(240, 15)), folder / "table.parquet")


@_file
def dictionary_parquet(folder):
    table = as_arrow(mixed(120, 16))
    shop = table.column("shop").dictionary_encode()
    quantity = table.column("quantity").dictionary_encode()
    table = table.set_column(1, "shop", shop).set_column(2, "quantity", quantity)
    pq.write_table(table, folder / "table.parquet")


@_file
def uint64_parquet(folder):
    table = mixed(120, 17)
    table["id"] = [2**63 + 7 * k for k in range(120)]
    table["big"] = [2**63 + 2**40 * ((k * 31) % 17) for k in range(120)]
    pq.write_table(as_arrow(table, id=pa.uint64(), big=pa.uint64()), folder / "table.parquet")


@_file
def decimal_parquet(folder):
    table = mixed(120, 18)
    table["price"] = [None if price is None else Decimal(str(price)) for price in table["price"]]
    pq.write_table(as_arrow(table, price=pa.decimal128(12, 2)), folder / "table.parquet")


@_file
def ns_parquet(folder):
    table = as_arrow(mixed(120, 19))
    at = table.column("at").cast(pa.timestamp("ns"))
    zoned = at.cast(pa.timestamp("ns", "UTC"))
    pq.write_table(
        table.set_column(6, "at", at).append_column("zoned", zoned), folder / "table.parquet"
    )


@_file
def mixed_parts(folder):
    """Parts with different types: integers, dictionary and text, time stamps, an empty column."""
    (folder / "parts").mkdir()
    types = [
        {"quantity": pa.int32(), "at": pa.timestamp("us")},
        {"quantity": pa.int64(), "at": pa.timestamp("ms")},
        {"quantity": pa.float64(), "at": pa.timestamp("ns")},
    ]
    for part, chosen in enumerate(types):
        table = as_arrow(mixed(80, 20 + part), **chosen)
        if part == 1:
            table = table.set_column(1, "shop", table.column("shop").dictionary_encode())
        if part == 2:
            table = table.set_column(8, "noise", pa.nulls(80))
        pq.write_table(table, folder / "parts" / f"part-{part}.parquet")


@_file
def plain_arrow(folder):
    table = as_arrow(mixed(100, 24))
    with pa.ipc.new_file(folder / "table.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=30)


@_file
def plain_feather(folder):
    pyarrow.feather.write_feather(
        as_arrow(mixed(100, 25)), folder / "table.feather", compression="zstd"
    )


@_file
def plain_ndjson(folder):
    table = mixed(100, 26)
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    _save(
        folder / "table.ndjson",
        "".join(json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in rows),
    )


@_file
def plain_xlsx(folder):
    import xlsxwriter

    with xlsxwriter.Workbook(
        folder / "table.xlsx", {"default_date_format": "yyyy-mm-dd hh:mm"}
    ) as book:
        book.add_worksheet("empty")
        sheet = book.add_worksheet("data")
        for column, (name, values) in enumerate(mixed(90, 27).items()):
            sheet.write_column(0, column, [name, *values])


@_file
def csv_and_others(folder):
    """A training table, and others to score: similar, drifted, parquet, parts, a missing column."""
    _save(folder / "table.csv", as_text(mixed(240, 30)))
    _save(folder / "other.csv", as_text(mixed(90, 31)))
    _save(folder / "drifted.csv", as_text(mixed(90, 32, drifted=True)))
    pq.write_table(as_arrow(mixed(90, 33)), folder / "other.parquet")
    lacking = mixed(60, 34)
    del lacking["price"]
    _save(folder / "lacking.csv", as_text(lacking))
    (folder / "parts").mkdir()
    for part in range(3):
        pq.write_table(as_arrow(mixed(60, 35 + part)), folder / "parts" / f"part-{part}.parquet")


@_file
def broken_files(folder):
    """Files that cannot be read, or hold nothing to look at."""
    text = as_text(mixed(60, 40))
    lines = text.splitlines(keepends=True)
    _save(folder / "header.csv", lines[0])
    _save(folder / "empty.csv", "")
    _save(folder / "one.csv", "".join(lines[:2]))
    _save(folder / "long.csv", "".join([*lines[:30], lines[30].strip() + ",1,2,3\n", *lines[31:]]))
    _save(folder / "quote.csv", "".join([*lines[:30], '1,"never closed,2\n', *lines[31:]]))
    _save(folder / "constant.csv", "a,b\n" + "1,x\n" * 60)
    _save(
        folder / "known.csv",
        "a,known\n" + "".join(f"{k % 7},{'perhaps' if k == 9 else ''}\n" for k in range(60)),
    )
    _save(folder / "good.csv", text)
    (folder / "cut.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0)[:-200])
    (folder / "garbage.parquet").write_bytes(b"PAR1" + bytes(range(256)) * 4)
    (folder / "model.odefs").write_bytes(b"not a model")
    (folder / "parts").mkdir()
    pq.write_table(pa.table({"a": [1, 2, 3], "b": [1.0, 2.0, 4.0]}), folder / "parts" / "1.parquet")
    pq.write_table(
        pa.table({"a": ["x", "y", "z"], "b": [1.0, 2.0, 4.0]}), folder / "parts" / "2.parquet"
    )
    (folder / "nothing").mkdir()
