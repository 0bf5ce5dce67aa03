"""Files whose suffix does not fit their content: the refusal names the suffix that does."""

import gzip
import io
import tarfile
import zipfile

import polars as pl
import pytest

from odefs.exceptions import TableError
from opening import MODES, read

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
CSV = FRAME.write_csv().encode()


def parquet():
    out = io.BytesIO()
    FRAME.write_parquet(out)
    return out.getvalue()


def workbook():
    out = io.BytesIO()
    FRAME.write_excel(out)
    return out.getvalue()


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("notes.md", "text")
    return out.getvalue()


def tarred():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("t.csv"), io.BytesIO())
    return gzip.compress(out.getvalue())


PAGE = b"<!DOCTYPE html><html><table><tr><td>1</td></tr></table></html>\n"
REFUSED = {
    "parquet.csv": (parquet, ".parquet"),
    "workbook.csv": (workbook, ".xlsx"),
    "workbook.xls": (workbook, ".xlsx"),
    "workbook.zip": (workbook, ".xlsx"),
    "archive.txt": (zipped, ".zip"),
    "tar.csv.gz": (tarred, "extract"),
    "page.csv": (lambda: PAGE, "save the table as csv"),
    "page.xls": (lambda: PAGE, "save the table as csv"),
    "weka.arff": (lambda: b"% made by us\n\n@RELATION t\n@attribute a numeric\n@data\n1\n", "csv"),
    "weka.csv": (lambda: b"@relation t\n@attribute a {1,2}\n@data\n" + b"1,2,3\n" * 30, "as csv"),
    "records.csv": (lambda: FRAME.write_json().encode(), ".json"),
    "text.xlsx": (lambda: CSV, ".csv"),
    "text.parquet": (lambda: CSV, ".csv"),
    "text.arrow": (lambda: CSV, ".csv"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_refusal_names_the_suffix_that_fits(name, tmp_path):
    content, remedy = REFUSED[name]
    (tmp_path / name).write_bytes(content())
    for mode in MODES:
        with pytest.raises(TableError) as caught:
            read(tmp_path / name, mode)
        assert remedy in str(caught.value).rpartition(name)[2]


def test_text_that_starts_like_another_format_is_read(tmp_path):
    (tmp_path / "t.csv").write_text("PAR1,PK\n1,2\n3,4\n")
    assert read(tmp_path / "t.csv", MODES[0]).n_rows == 2
    (tmp_path / "u.csv").write_text('[a],{b}\n1,2\n3,"{""c"": 4}"\n')
    assert read(tmp_path / "u.csv", MODES[0]).n_rows == 2
