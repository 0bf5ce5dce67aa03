"""Small files that would become gigabytes: an answer or one sentence, within 500 MB."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from command import ODEFS, messages
from measured import measured
from odefs.exceptions import TableError
from odefs.tables.readers.excel.limits import excel_bytes
from odefs.tables.readers.excel.read import read_sheet
from opening import in_both_modes, read, read_in_memory

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="peaks and limits are those of Linux"
)

MAX_PEAK = 500 * 10**6
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{KIND}/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{MAIN}" xmlns:r="{KIND}"><sheets><sheet name="S" sheetId="1" '
        'r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{KIND}/worksheet" '
        'Target="worksheets/s.xml"/>'
        f'<Relationship Id="rId2" Type="{KIND}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>"
    ),
}


def write_book(path, sheet, strings=()):
    """A workbook of one sheet, whose XML comes in pieces and may be repeated."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as book:
        for name, text in PARTS.items():
            book.writestr(name, text)
        for name, root, pieces in (
            ("worksheets/s", "worksheet", sheet),
            ("sharedStrings", "sst", strings),
        ):
            with book.open(f"xl/{name}.xml", "w", force_zip64=True) as part:
                part.write(f'<{root} xmlns="{MAIN}">'.encode())
                for piece, times in pieces:
                    for _ in range(times):
                        part.write(piece)
                part.write(f"</{root}>".encode())


def sheet_of(*rows):
    return [(b"<sheetData>", 1), *rows, (b"</sheetData>", 1)]


def two(first, last):
    return (
        sheet_of((b'<row r="1"><c r="A1"><v>1</v></c></row>', 1), (last, 1))
        if first
        else sheet_of((last, 1))
    )


ROW = b"<row><c><v>1</v></c></row>"
FEW = sheet_of((b'<row><c t="s"><v>0</v></c></row>', 1), (ROW, 9))
BOOKS = {
    "rows": (sheet_of((ROW * 10_000, 120)), ()),
    "string": (FEW, [(b"<si><t>", 1), (b"a" * 10**6, 8), (b"</t></si>", 1)]),
    "strings": (FEW, [(b"<si><t>a</t></si>" * 10_000, 500)]),
    "far apart": (two(True, b'<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'), ()),
    "beyond": (two(True, b'<row r="4000000000"><c r="ZZZZ4000000000"><v>2</v></c></row>'), ()),
    "other quotes": (
        two(True, b"<row r = '1048576'><c s='1' r = 'XFD1048576'><v>2</v></c></row>"),
        (),
    ),
    "a prefix": (
        two(True, b'<x:row xmlns:x="u" r="1048576"><x:c r="XFD1048576"><x:v>2</x:v></x:c></x:row>'),
        (),
    ),
    "a prefix of the cells": (
        two(True, b'<row r="9"><x:c r="XFD1048576"><v>2</v></x:c></row>'),
        (),
    ),
    "no references": (
        sheet_of((b"<row>" + b"<c><v>1</v></c>" * 16_000 + b"</row>", 1), (ROW * 1000, 50)),
        (),
    ),
    "one string in all cells": (
        sheet_of((b'<row><c t="s"><v>0</v></c></row>' * 1000, 100)),
        [(b"<si><t>" + b"a" * 32_000 + b"</t></si>", 1)],
    ),
    "behind a blank cell": (
        two(True, b'<row r="1048576"><c r="XFC1048576" s="1"/><c><v>2</v></c></row>'),
        (),
    ),
    "blank in a quote only": (
        two(True, b'<row r="9"><c x="/>" r="XFD1048576"><v>2</v></c></row>'),
        (),
    ),
    "a long row number": (two(True, b'<row><c r="A1000000000000000003"><v>2</v></c></row>'), ()),
    "a long row number behind": (
        two(True, b'<row><c s="0" r="A1000000000000000003"><v>2</v></c></row>'),
        (),
    ),
    "more digits than Python reads": (
        two(True, b'<row><c s="0" r="A' + b"1" * 5000 + b'"><v>2</v></c></row>'),
        (),
    ),
    "column 2**32 + 3": (two(True, b'<row><c r="MWLQKWY3"><v>2</v></c></row>'), ()),
    "column 2**32 + 3 behind": (two(True, b'<row><c s="0" r="MWLQKWY3"><v>2</v></c></row>'), ()),
    "row 2**32 + 3": (two(True, b'<row r="4294967299"><c r="A3"><v>2</v></c></row>'), ()),
    "a reference in quotes": (
        two(True, b"""<row><c x=' r="A1"' r="XFD1048576"><v>2</v></c></row>"""),
        (),
    ),
    "comment": ([(b"<sheetData><!--", 1), (b"a" * 10**6, 8), (b"--></sheetData>", 1)], ()),
}
LARGE = {
    "rows": (sheet_of((ROW * 10_000, 3000)), ()),
    "string": (FEW, [(b"<si><t>", 1), (b"a" * 10**6, 800), (b"</t></si>", 1)]),
    "comment": ([(b"<sheetData><!--", 1), (b"a" * 10**6, 800), (b"--></sheetData>", 1)], ()),
    "far": BOOKS["far apart"],
}
"""The same in their original size: 30 million rows took 6.8 GB, an 800 MB string 2.4 GB."""


@pytest.mark.parametrize("kind", BOOKS)
def test_workbooks_are_refused_before_they_are_read(kind, tmp_path):
    write_book(tmp_path / "t.xlsx", *BOOKS[kind])
    with pytest.raises(TableError):
        excel_bytes(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match=r"^t.xlsx: .*[^.]\.$"):
        read_in_memory(tmp_path / "t.xlsx")
    with pytest.raises(TableError):
        read_sheet((tmp_path / "t.xlsx").read_bytes(), None)


def test_stated_lengths_are_not_believed(tmp_path):
    write_book(tmp_path / "t.xlsx", *BOOKS["rows"])
    content = bytearray((tmp_path / "t.xlsx").read_bytes())
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        place = book.start_dir
        for part in book.infolist():
            if part.filename == "xl/worksheets/s.xml":
                content[place + 24 : place + 28] = (1000).to_bytes(4, "little")
            place += 46 + len(part.filename) + len(part.extra)
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(TableError, match="more than the 1,048,576 rows"):
        excel_bytes(tmp_path / "t.xlsx")


def test_ordinary_workbooks_are_read(tmp_path):
    rng = np.random.default_rng(0)
    text = rng.choice(["a", "b c", "a longer text of some words" * 4], 3000)
    frame = pl.DataFrame({"x": rng.normal(size=3000), "zeros": [0] * 3000, "text": text})
    frame.write_excel(tmp_path / "t.xlsx")
    assert frame.estimated_size() < excel_bytes(tmp_path / "t.xlsx") < 1000 * 3000 * 3
    assert read_in_memory(tmp_path / "t.xlsx").frame.height == 3000
    write_book(tmp_path / "u.xlsx", *(FEW, [(b"<si><t>name</t></si>", 1)]))
    assert read_in_memory(tmp_path / "u.xlsx").columns == ["name"]


def write_sheets(path, blank=False, far=()):
    """100 rows of 10 numbers, perhaps a formatted blank cell at the end, and two distant cells."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("data")
        for k in range(100):
            sheet.write_row(
                k, 0, [f"c{j}" for j in range(10)] if k == 0 else [k * k + j for j in range(10)]
            )
        if blank:
            sheet.set_row(1048574, 30)
            sheet.write_blank(1048575, 16383, None, book.add_format({"bold": True}))
        for name in far:
            other = book.add_worksheet(name)
            other.write(0, 0, "a")
            other.write(1048575, 16383, 1)


def test_formatted_blank_cells_do_not_count(tmp_path):
    write_sheets(tmp_path / "t.xlsx", blank=True)
    assert read_in_memory(tmp_path / "t.xlsx").frame.shape == (99, 10)
    assert excel_bytes(tmp_path / "t.xlsx") < 10**6


@pytest.mark.slow
def test_only_the_sheet_that_is_read_is_judged(tmp_path):
    write_sheets(tmp_path / "t.xlsx", far=["far & wide"])
    assert read_in_memory(tmp_path / "t.xlsx").frame.shape == (99, 10)
    assert read_in_memory(tmp_path / "t.xlsx", sheet="data").frame.shape == (99, 10)
    for sheet, why in {"far & wide": "spread over", "none of them": "there is no sheet"}.items():
        with pytest.raises(TableError, match=why):
            read_in_memory(tmp_path / "t.xlsx", sheet=sheet)
    done = measured(
        "detect", "t.xlsx", "--sheet", "far & wide", "--no-report", "--quiet", cwd=tmp_path
    )
    assert done.returncode == 1
    done = measured("detect", "t.xlsx", "--sheet", "data", "--no-report", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done


def test_a_list_of_sheets_that_is_not_clear_spares_none(tmp_path):
    write_book(tmp_path / "t.xlsx", *BOOKS["far apart"])
    with zipfile.ZipFile(tmp_path / "t.xlsx", "a") as book:
        book.writestr("xl/other/workbook.xml", PARTS["xl/workbook.xml"].replace("rId1", "rId2"))
    with pytest.raises(TableError, match="spread over"):
        excel_bytes(tmp_path / "t.xlsx")


def test_macros_and_data_models_are_not_taken_for_sheets(tmp_path):
    write_sheets(tmp_path / "plain.xlsx")
    kinds = {"vbaProject": "vbaProject.bin", "powerPivotData": "model/item.data"}
    added = "".join(
        f'<Relationship Id="x{k}" Type="{KIND}/{k}" Target="{part}"/>' for k, part in kinds.items()
    )
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as plain,
        zipfile.ZipFile(tmp_path / "t.xlsm", "w") as book,
    ):
        for part in plain.namelist():
            book.writestr(
                part,
                plain.read(part).replace(b"</Relationships>", f"{added}</Relationships>".encode()),
            )
        for part in kinds.values():
            book.writestr(f"xl/{part}", bytes(10**6))
    assert read_in_memory(tmp_path / "t.xlsm").frame.shape == (99, 10)


def write_ods(path, rows):
    spaces = "".join(
        f' xmlns:{k}="urn:oasis:names:tc:opendocument:xmlns:{k}:1.0"'
        for k in ("office", "table", "text")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", kind, zipfile.ZIP_STORED)
        book.writestr("META-INF/manifest.xml", "<manifest/>")
        book.writestr(
            "content.xml",
            f"<office:document-content{spaces}><office:body><office:spreadsheet><table:table "
            f'table:name="S">{rows}'
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )


def ods_row(n, columns=1, rows=1):
    cell = (
        f'<table:table-cell office:value-type="float" office:value="{n}" '
        f'table:number-columns-repeated="{columns}">'
    )
    return (
        f'<table:table-row table:number-rows-repeated="{rows}">{cell}<text:p>{n}</text:p>'
        f"</table:table-cell>{BLANK}</table:table-row>"
    )


BLANK = '<table:table-cell table:number-columns-repeated="16000"/>'
BLANK_ROWS = f'<table:table-row table:number-rows-repeated="1048000">{BLANK}</table:table-row>'


def test_open_documents_are_counted(tmp_path):
    names = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{k}</text:p></table:table-cell>'
        for k in "abc"
    )
    rows = (
        f"<table:table-row>{names}</table:table-row>"
        + "".join(ods_row(k, 3) for k in range(50))
        + BLANK_ROWS
    )
    write_ods(tmp_path / "t.ods", rows)
    assert 40 * 150 < excel_bytes(tmp_path / "t.ods") < 10**5
    assert read_in_memory(tmp_path / "t.ods").frame.shape == (50, 3)


@pytest.mark.parametrize(
    "rows",
    [
        ods_row(1, 16_000, 1_000_000),
        ods_row(1) + BLANK_ROWS + ods_row(1, 1000),
        ods_row(1) + ods_row(1, rows=10**7),
        ods_row(1) + ods_row(1, rows=10**18),
        ods_row(1) + ods_row(1, columns=10**18),
        ods_row(1) + ods_row(1, rows="1" * 5000),
    ],
    ids=["both", "behind blank rows", "rows", "10**18 rows", "10**18 columns", "5000 digits"],
)
def test_repeated_cells_of_open_documents_are_refused(rows, tmp_path):
    write_ods(tmp_path / "t.ods", rows)
    with pytest.raises(TableError, match="which take over 250 times"):
        read_in_memory(tmp_path / "t.ods")


@in_both_modes
def test_a_line_of_millions_of_fields_is_refused(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a," * 2_000_000 + "a\n" + "1," * 2_000_000 + "1\n")
    with pytest.raises(TableError, match="more fields than the 20,000 columns"):
        read(tmp_path / "t.csv", mode)


def lines_of(n, line):
    return "".join(line % (k, k % 7) for k in range(n))


@pytest.mark.parametrize(
    "line", ['{"key%06d":%d}\n', '{"a":{"key%06d":%d}}\n', '{"a":[{"key%06d":%d}]}\n']
)
@in_both_modes
def test_lines_with_keys_of_their_own_are_refused(mode, line, tmp_path):
    (tmp_path / "t.ndjson").write_text(lines_of(3000, line))
    with pytest.raises(TableError, match="different keys"):
        read(tmp_path / "t.ndjson", mode)


@in_both_modes
def test_keys_behind_the_beginning_count(mode, tmp_path):
    (tmp_path / "t.ndjson").write_text(
        '{"a":1,"b":2}\n' * 100_000 + lines_of(1000, '{"key%06d":%d}\n')
    )
    with pytest.raises(TableError, match="different keys"):
        read(tmp_path / "t.ndjson", mode)


@in_both_modes
def test_tables_with_some_empty_cells_are_read(mode, tmp_path):
    (tmp_path / "t.ndjson").write_text(
        "".join(f'{{"a":{k},"k{k % 50}":1}}\n' for k in range(20_000))
    )
    assert read(tmp_path / "t.ndjson", mode).frame.shape == (20_000, 51)


@in_both_modes
def test_objects_in_lists_and_in_text_are_not_lines(mode, tmp_path):
    flat = {f"k{k}": k for k in range(120)}
    (tmp_path / "t.ndjson").write_text(f"{json.dumps(flat | {'items': [{'a': 1}] * 300})}\n" * 100)
    assert read(tmp_path / "t.ndjson", mode).frame.shape == (100, 121)
    text = json.dumps([{"a": '"{'}] * 300)
    (tmp_path / "u.ndjson").write_text(f"{json.dumps(flat | {'text': text})}\n" * 300)
    assert read(tmp_path / "u.ndjson", mode).frame.shape == (300, 121)


def write_repeated(path, name="text", with_struct=False):
    """One text of 2 MB, which 20,000 rows refer to: 40 GB."""
    text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(20_000, dtype=np.int32)), pa.array(["x" * 2_000_000])
    )
    struct = {"t": pa.array([{"x": "a"}] * 20_000)} if with_struct else {}
    table = pa.table({**struct, name: text, "x": np.arange(20_000.0)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=10**8)
    else:
        with ipc.new_file(
            path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")
        ) as file:
            file.write_table(table)


def write_zeros(path, n=30_000_000):
    table = pa.table({"a": np.zeros(n), "b": np.zeros(n)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=n, use_dictionary=False, compression="zstd")
    else:
        with ipc.new_file(
            path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")
        ) as file:
            file.write_table(table, max_chunksize=n)


@pytest.mark.parametrize("write", [write_repeated, write_zeros])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@in_both_modes
def test_columns_that_unpack_into_gigabytes_are_refused(mode, write, suffix, tmp_path):
    path = tmp_path / f"t.{suffix}"
    write(path)
    assert path.stat().st_size < 2 * 10**6
    with pytest.raises(TableError, match=r"over 250 times the size of the file"):
        read(path, mode)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@in_both_modes
def test_columns_are_judged_wherever_they_come_from(mode, suffix, tmp_path):
    path = tmp_path / f"t.{suffix}"
    write_repeated(path)
    done = subprocess.run(
        [ODEFS, "detect", "-", "--no-report"], input=path.read_bytes(), capture_output=True
    )
    assert (done.returncode, b"over 250 times" in done.stderr) == (1, True), done
    for name in (f"t[1].{suffix}".encode(), b"p\xe9." + suffix.encode()):
        other = tmp_path / os.fsdecode(name)
        shutil.copyfile(path, other)
        with pytest.raises(TableError, match="over 250 times"):
            read(other, mode)


@pytest.mark.parametrize("with_struct", [False, True])
@in_both_modes
def test_a_dot_in_a_name_does_not_hide_a_column(mode, with_struct, tmp_path):
    write_repeated(tmp_path / "t.parquet", "t.x", with_struct)
    with pytest.raises(TableError, match="over 250 times"):
        read(tmp_path / "t.parquet", mode)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@in_both_modes
def test_names_that_are_not_utf8_are_read(mode, suffix, tmp_path):
    """The text may add up to too much by the metadata, and is looked at therefore."""
    path = tmp_path / "folder" / os.fsdecode(b"p\xe9." + suffix.encode())
    path.parent.mkdir()
    table = pa.table(
        {
            "text": pa.array(["a" * 40, "b" * 50] * 50_000).dictionary_encode(),
            "x": np.arange(100_000.0),
        }
    )
    with open(path, "wb") as file:
        if suffix == "parquet":
            pq.write_table(table, file)
        else:
            with ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    for source in [path, path.parent] if suffix == "parquet" else [path]:
        assert read(source, mode).frame.height == 100_000


@in_both_modes
def test_repeated_texts_are_read(mode, tmp_path):
    frame = pl.DataFrame(
        {"text": ["some words"] * 50_000 + ["others"] * 50_000, "x": np.arange(100_000.0)}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    pq.write_table(frame.to_arrow(), tmp_path / "t.parquet", compression="zstd")
    assert read(tmp_path / "t.parquet", mode).frame.height == 100_000


def write_bomb(path):
    match path.name:
        case "rows.xlsx" | "string.xlsx" | "comment.xlsx" | "far.xlsx":
            write_book(path, *LARGE[path.stem])
        case "keys.ndjson":
            path.write_text(lines_of(20_000, '{"key%06d":%d,"a":1}\n'))
        case "columns.csv":
            path.write_text(f"{','.join(f'c{k}' for k in range(2_000_000))}\n{'1,' * 1_999_999}1\n")
        case "t.csv.gz":
            with gzip.open(path, "wb") as file:
                for _ in range(1000):
                    file.write(b"1,2\n" * 250_000)
        case "repeated.parquet" | "repeated.arrow":
            write_repeated(path)
        case "zeros.parquet" | "zeros.arrow":
            write_zeros(path)


@pytest.mark.slow
@pytest.mark.parametrize("in_parts", ["", "1"], ids=["at once", "in parts"])
@pytest.mark.parametrize(
    "name",
    [
        *(
            "rows.xlsx",
            "string.xlsx",
            "comment.xlsx",
            "far.xlsx",
            "keys.ndjson",
            "columns.csv",
            "t.csv.gz",
        ),
        *("repeated.parquet", "repeated.arrow", "zeros.parquet", "zeros.arrow"),
    ],
)
def test_the_command_stays_within_500_megabytes(name, in_parts, tmp_path):
    write_bomb(tmp_path / name)
    done = measured("detect", name, "--no-report", "--quiet", cwd=tmp_path, ODEFS_IN_PARTS=in_parts)
    assert done.peak < MAX_PEAK, done
    assert done.returncode == 1, done
    assert done.stderr.startswith("odefs: ")
    assert len(messages(done)) == 1
