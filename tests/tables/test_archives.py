"""Zip archives, compressed text and JSON documents: equal in memory and in parts, within bounds."""

import bz2
import gzip
import json
import lzma
import zipfile

import polars as pl
import pyarrow as pa
import pytest

from odefs.exceptions import TableError
from odefs.tables.readers import compression as compressed_files
from odefs.tables.readers.compression import compression_ratio
from opening import in_both_modes, read

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, None, 2.5]})
TEXT = FRAME.write_csv().encode()
LINES = FRAME.write_ndjson().encode()
RECORDS = FRAME.to_dicts()


def zstd(content):
    return pa.compress(content, "zstd", asbytes=True)


CODECS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return path


@pytest.mark.parametrize("inner", ["csv", "ndjson", "jsonl", "json"])
@pytest.mark.parametrize("codec", CODECS)
@in_both_modes
def test_compressed_files_are_read(mode, codec, inner, tmp_path):
    content = {"csv": TEXT, "json": json.dumps(RECORDS).encode()}.get(inner, LINES)
    path = tmp_path / f"t.{inner}.{codec}"
    path.write_bytes(CODECS[codec](content))
    found = read(path, mode)
    assert found.frame.rows() == FRAME.rows()
    assert found.source[:2] == (path.name, path.stat().st_size)


@pytest.mark.parametrize("codec", CODECS)
def test_the_suffix_need_not_name_the_compression(codec, tmp_path):
    (tmp_path / "t.csv").write_bytes(CODECS[codec](TEXT) * 2)
    # A second stream continues the text, and its header is left out.
    assert read(tmp_path / "t.csv", "in memory").frame.height == 2 * FRAME.height


@pytest.mark.parametrize("codec", CODECS)
@in_both_modes
def test_compressed_bombs_and_damaged_files_are_refused(mode, codec, tmp_path, monkeypatch):
    monkeypatch.setattr(compressed_files, "MIN_DECOMPRESSED_BYTES", 2**20)
    path = tmp_path / f"t.csv.{codec}"
    path.write_bytes(CODECS[codec](b"0,0\n" * 2**19))
    with pytest.raises(TableError, match=rf"t\.csv\.{codec}: .*100 times larger"):
        read(path, mode)
    path.write_bytes(CODECS[codec](TEXT * 99)[:-9])
    with pytest.raises(TableError, match=rf"t\.csv\.{codec}: .*damaged"):
        read(path, mode)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_claim_other_sizes_are_refused(method, tmp_path, monkeypatch):
    monkeypatch.setattr(compressed_files, "MIN_DECOMPRESSED_BYTES", 2**20)
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", method) as out:
        out.writestr("t.csv", b"0,0\n" * 2**22)
    content = bytearray(path.read_bytes())
    directory = content.rfind(b"PK\x01\x02")
    content[directory + 20 : directory + 24] = (2**24).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"t\.zip: .*100 times larger"):
        read(path, "in memory")


def test_damaged_archives_are_refused(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as out:
        out.writestr("t.csv", TEXT * 99)
    content = bytearray(path.read_bytes())
    content[50:80] = b"\xff" * 30
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"t\.zip: the archive is damaged"):
        read(path, "in memory")


@pytest.mark.parametrize("inner", ["csv", "ndjson", "json"])
def test_compressed_files_in_archives_are_read(inner, tmp_path):
    content = {"csv": TEXT, "json": json.dumps(RECORDS).encode()}.get(inner, LINES)
    path = archive(tmp_path / "t.zip", **{f"2024.t.{inner}.gz": gzip.compress(content)})
    assert read(path, "in memory").frame.rows() == FRAME.rows()


@pytest.mark.parametrize("codec", CODECS)
def test_the_compression_is_estimated_from_the_beginning(codec, tmp_path):
    text = b"".join(b"%d,%d\n" % (i, i * 7919 % 10007) for i in range(200_000))
    path = tmp_path / "t"
    path.write_bytes(CODECS[codec](text))
    assert compression_ratio(path) == pytest.approx(len(text) / path.stat().st_size, rel=0.3)


@pytest.mark.parametrize("suffix", ["json", "ndjson"])
def test_lists_that_are_nested_deeply_are_refused(suffix, tmp_path):
    cell = "[" * 500 + "1" + "]" * 500
    lines = [f'{{"x": {cell}, "y": {k}}}' for k in range(3)]
    text = "\n".join(lines) if suffix == "ndjson" else f"[{','.join(lines)}]"
    (tmp_path / f"t.{suffix}").write_text(text)
    with pytest.raises(TableError, match="nested too deeply"):
        read(tmp_path / f"t.{suffix}", "in memory")


def test_an_xz_header_cannot_ask_for_much_memory(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}]
    # Small input: the compressor needs little memory for a large dictionary.
    content = lzma.LZMACompressor(filters=filters)
    try:
        data = content.compress(TEXT) + content.flush()
    except MemoryError:
        pytest.fail("the compressor needs more memory than this machine has")
    (tmp_path / "t.csv.xz").write_bytes(data)
    with pytest.raises(TableError, match="damaged"):
        read(tmp_path / "t.csv.xz", "in memory")


@in_both_modes
def test_the_only_table_of_an_archive_is_read(mode, tmp_path):
    path = archive(
        tmp_path / "t.zip",
        **{"data/t.csv": TEXT, "__MACOSX/data/._t.csv": "x", ".hidden.csv": "x", "data/a.md": "x"},
    )
    found = read(path, mode)
    assert found.frame.rows() == FRAME.rows()
    assert found.source[:2] == ("t.zip", len(TEXT))


@pytest.mark.parametrize("table", ["x/b.json", "b.json"])
@in_both_modes
def test_one_of_several_tables_is_chosen(mode, table, tmp_path):
    members = {"x/a.csv": "a\n1\n2\n", "x/b.json": json.dumps(RECORDS), "y/a.csv": TEXT}
    path = archive(tmp_path / "t.zip", **members)
    found = read(path, mode, table=table)
    assert found.frame.rows() == FRAME.rows()
    assert found.source[0] == f"t.zip ({table})"
    for wrong in (None, "a.csv", "nowhere.csv"):
        with pytest.raises(TableError, match=r"x/a\.csv, x/b\.json, y/a\.csv"):
            read(path, mode, table=wrong)


def encrypted(path):
    archive(path, **{"t.csv": TEXT})
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    path.write_bytes(content)


BAD_ARCHIVES = {
    "no tables": (lambda path: archive(path, **{"a.md": "x"}), "only a.md"),
    "empty": (archive, "no table in this archive"),
    "not an archive": (lambda path: path.write_bytes(b"text"), "damaged"),
    "bomb": (lambda path: archive(path, **{"t.csv": b"0,0\n" * 10**7}), "100 times larger"),
    "encrypted": (encrypted, "is encrypted: extract it"),
}


@pytest.mark.parametrize("name", BAD_ARCHIVES)
@in_both_modes
def test_a_bad_archive_gives_one_sentence(mode, name, tmp_path):
    make, sentence = BAD_ARCHIVES[name]
    make(tmp_path / "t.zip")
    with pytest.raises(TableError) as caught:
        read(tmp_path / "t.zip", mode)
    assert str(caught.value).startswith(str(tmp_path / "t.zip"))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_archive_is_recognised_by_its_content(tmp_path):
    archive(tmp_path / "download", **{"t.csv": TEXT})
    assert read(tmp_path / "download", "in memory").frame.rows() == FRAME.rows()


DOCUMENTS = {
    "records": RECORDS,
    "records under a key": {"count": 3, "data": RECORDS},
    "records two keys deep": {"meta": {"pages": [1]}, "result": {"rows": RECORDS}},
    "columns": FRAME.to_dict(as_series=False),
    "columns under a key": {"table": FRAME.to_dict(as_series=False)},
    "what pandas writes": {
        name: {str(k): cell for k, cell in enumerate(cells)}
        for name, cells in FRAME.to_dict(as_series=False).items()
    },
}


@pytest.mark.parametrize("name", DOCUMENTS)
@in_both_modes
def test_documents_with_one_table_are_read(mode, name, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(DOCUMENTS[name], indent=1))
    found = read(tmp_path / "t.json", mode)
    assert found.frame.rows() == FRAME.rows()
    assert found.columns == FRAME.columns
    assert found.source[:2] == ("t.json", (tmp_path / "t.json").stat().st_size)


@in_both_modes
def test_objects_become_columns_and_missing_fields_are_empty(mode, tmp_path):
    records = [{"a": 1, "b": {"c": 2.5, "d": {"e": "x"}}}, {"a": 2, "f": True}, {"a": float("nan")}]
    (tmp_path / "t.json").write_text(json.dumps(records))
    found = read(tmp_path / "t.json", mode)
    assert found.columns == ["a", "b.c", "b.d.e", "f"]
    assert found.frame.rows() == [
        (1, 2.5, "x", None),
        (2, None, None, True),
        (None, None, None, None),
    ]


@in_both_modes
def test_a_document_of_lines_is_read_as_such(mode, tmp_path):
    (tmp_path / "t.json").write_bytes(LINES)
    assert read(tmp_path / "t.json", mode).frame.equals(FRAME)


@in_both_modes
def test_one_of_several_tables_in_a_document_is_chosen_by_its_key(mode, tmp_path):
    fields = [{"name": "a", "type": "int"}, {"name": "b", "type": "str"}]
    document = {"fields": fields, "result": {"features": RECORDS}}
    (tmp_path / "t.json").write_text(json.dumps(document))
    found = read(tmp_path / "t.json", mode, table="result.features")
    assert found.frame.rows() == FRAME.rows()
    assert found.source[0] == "t.json (result.features)"
    assert read(tmp_path / "t.json", mode, table="fields").columns == ["name", "type"]
    with pytest.raises(TableError, match=r"no table 'x', only fields, result\.features"):
        read(tmp_path / "t.json", mode, table="x")


@pytest.mark.parametrize("content", [json.dumps(RECORDS).encode(), LINES])
def test_a_single_table_has_no_key(content, tmp_path):
    (tmp_path / "t.json").write_bytes(content)
    with pytest.raises(TableError, match="single table"):
        read(tmp_path / "t.json", "in memory", table="x")


BAD_DOCUMENTS = {
    "not JSON": ("[1, 2", "not a JSON document"),
    "a number": ("3", "a single value"),
    "an empty array": ("[]", "an empty array"),
    "an empty object": ("{}", "an empty object"),
    "numbers": ("[1, 2]", "not records"),
    "an object": ('{"a": 1, "b": "x"}', "the keys a, b"),
    "several tables": (
        '{"a": [{"x": 1}], "b": [{"x": 1}]}',
        "2 tables (a, b): choose one with --table NAME",
    ),
    "two fields of one name": ('[{"a.b": 1, "a": {"b": 2}}]', "'a.b' is both"),
    "a huge number": ('[{"a": 1}, {"a": 1e999}]', "record 2"),
    "nested too deeply": ("[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_a_bad_document_gives_one_sentence(name, tmp_path):
    content, sentence = BAD_DOCUMENTS[name]
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(TableError) as caught:
        read(tmp_path / "t.json", "in memory")
    assert str(caught.value).startswith(str(tmp_path / "t.json"))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_document_that_does_not_fit_into_memory_is_refused_before_it_is_read(
    tmp_path, monkeypatch
):
    (tmp_path / "t.json").write_text(json.dumps(RECORDS * 40_000))
    monkeypatch.setenv("ODEFS_MEMORY", "261MB")
    with pytest.raises(TableError, match=r"t\.json: .*\.ndjson"):
        read(tmp_path / "t.json", "in parts")


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        *(("table", name) for name in ("t.csv", "t.parquet")),
        *(("query", name) for name in ("t.csv", "t.json", "t.parquet")),
    ],
)
def test_files_with_one_table_have_no_choice(choice, name, tmp_path):
    (tmp_path / name).write_bytes(TEXT)
    with pytest.raises(TableError, match=rf"--{choice} is for databases"):
        read(tmp_path / name, "in memory", **{choice: "x"})


def test_a_table_of_a_document_in_an_archive_is_chosen_by_its_key(tmp_path):
    document = {"fields": [{"name": "a"}, {"name": "b"}], "rows": RECORDS}
    path = archive(tmp_path / "t.zip", **{"t.json": json.dumps(document)})
    assert read(path, "in memory", table="rows").frame.rows() == FRAME.rows()
    with pytest.raises(TableError, match="no table 'x', only fields, rows"):
        read(path, "in memory", table="x")


def test_two_tables_with_one_key_are_refused(tmp_path):
    document = {"a.b": RECORDS, "a": {"b": RECORDS}}
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(TableError, match="same key"):
        read(tmp_path / "t.json", "in memory")
