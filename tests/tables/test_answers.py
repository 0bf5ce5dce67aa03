"""Files of answers: the round trip, what spreadsheets make of them, and what is refused."""

import csv
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from odefs.exceptions import TableError
from odefs.models.odefs import ODEFSModel
from odefs.tables.answers.apply import answers_note, with_answers
from odefs.tables.answers.file import Answer, AnswerFile, answered, table_fingerprint
from odefs.tables.answers.lines import own_name, report_header
from odefs.tables.detect import detect_table
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.table import table_of

IDS = ["=1+1", "-5", "'=x", "plain", "with;semicolon", 'with"quote', "two\nlines", "ünï", "@a", ""]
LINES = [
    Answer(3, "yes", "5.31", "=cmd (high); a, b", "2026-11-17T15:00:00Z", {"=note": "+see mail"}),
    Answer(0, "no", "1.2", "", "", {"=note": ""}),
    Answer(7, "unsure", "", "x", "", {"=note": "-"}),
    Answer(5, "", "", "", "", {"=note": "later"}),
]


def frame(ids=IDS):
    return pl.DataFrame({"id": ids, "x": range(len(ids)), "y": [0.5] * len(ids)})


def by_id(path, ids=IDS[:-1]):
    return AnswerFile(path, table_of(frame(ids)), "0123456789abcdef", "id")


def by_number(path):
    return AnswerFile(path, table_of(frame()), "0123456789abcdef")


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("make", [by_id, by_number])
def test_the_round_trip_loses_nothing_and_no_cell_is_a_formula(make, tmp_path):
    file = make(tmp_path / "a.csv")
    file.write(LINES)
    assert file.read() == LINES
    with open(file.path, newline="", encoding="utf-8") as text:
        cells = [cell for line in csv.reader(text) for cell in line]
    assert "'=note" in cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t") or cell == "-"]


def test_every_id_finds_its_row_again(tmp_path):
    file = by_id(tmp_path / "a.csv")
    lines = [Answer(row, "yes") for row in range(len(IDS) - 1)]
    file.write(lines)
    assert [one.row for one in file.read()] == [one.row for one in lines]


def test_ids_that_name_several_rows_stand_with_their_row_numbers(tmp_path):
    file = by_id(tmp_path / "a.csv", ["a", "b", "b", ""])
    file.write([Answer(2, "yes"), Answer(3, "no"), Answer(0, "no")])
    assert file.path.read_text().splitlines()[0] == "id,row,answer,score,reasons,time,table"
    assert [(one.row, one.word) for one in file.read()] == [(2, "yes"), (3, "no"), (0, "no")]
    with pytest.raises(TableError, match=r"2 rows have 'b' in the column 'id' .line 2.: add a col"):
        by_id(written(tmp_path / "b.csv", "id,answer\nb,yes\n"), ["a", "b", "b", ""]).read()
    with pytest.raises(TableError, match="row 1 does not have 'b'"):
        by_id(written(tmp_path / "c.csv", "id,row,answer\nb,1,yes\n"), ["a", "b", "b", ""]).read()


def test_an_id_column_called_answer(tmp_path):
    table = table_of(frame(["a", "b"]).rename({"id": "answer"}))
    file = AnswerFile(tmp_path / "a.csv", table, "f" * 16, "answer")
    file.write([Answer(1, "no")])
    assert file.path.read_text().startswith("answer (id),answer,score")
    assert file.read() == [Answer(1, "no")]


@pytest.mark.parametrize("name", ["Row", "time", "TABLE ", "reasons"])
def test_id_columns_with_own_names_in_any_case(name, tmp_path):
    table = table_of(frame(["7", "8"]).rename({"id": name}))
    file = AnswerFile(tmp_path / "a.csv", table, "f" * 16, name)
    file.write([Answer(1, "no")])
    assert file.path.read_text().startswith(f"{name} (id),answer,score")
    assert file.read() == [Answer(1, "no")]
    with pytest.raises(TableError, match="there is no column 'row'"):
        replace(file, identifier=None).read()


def test_ids_in_a_column_called_row_are_not_row_numbers(tmp_path):
    table = table_of(frame(["3", "1", "2"]).rename({"id": "row"}))
    path = written(tmp_path / "a.csv", "row,answer\n1,yes\n")
    file = AnswerFile(path, table, "f" * 16, "row")
    with pytest.raises(TableError, match=r"row numbers or the ids .*call it 'row .id.' if"):
        file.read()
    written(path, "row (id),answer\n1,yes\n")
    assert file.read()[0].row == 1
    replace(file, identifier=None).write([Answer(0, "yes")])
    assert file.read() == [Answer(0, "yes")], "numbers of this very table"


@pytest.mark.parametrize(
    "header",
    ["row,answer,Answer", "row,answer,x, ANSWER", "row,Row,answer", "row,answer,table,Table"],
)
def test_two_columns_with_the_same_meaning_are_refused(header, tmp_path):
    path = written(tmp_path / "a.csv", f"{header}\n1,yes,no,no\n")
    with pytest.raises(TableError, match="have the same meaning: rename or remove one"):
        by_number(path).read()


def test_two_id_columns_are_refused(tmp_path):
    path = written(tmp_path / "a.csv", "id,answer,id\nplain,yes,ünï\n")
    with pytest.raises(TableError, match="the columns 'id' and 'id' have the same meaning"):
        by_id(path).read()


def test_columns_of_a_report_never_have_own_names():
    columns = ["Answer", "x", "x (id)", "ROW", "time", "answer (input)", "answer", " Table"]
    header = report_header("x (id)", columns)
    assert header[:5] == ["x (id)", "answer", "score", "reasons", "table"]
    assert len(set(header)) == len(header)
    assert [own_name(name) for name in header[5:]] == [None] * len(columns)
    assert header[5:7] == ["Answer (input)", "x"]


@pytest.mark.parametrize(
    "name",
    ["Customer\nID", "Customer\r\nID", "a\rb", "sep=x", "Sep=;", 'a"b', "a\x00b", "=\n", ";"],
)
def test_what_is_written_is_read_again(name, tmp_path):
    ids = ["a\x00b", "a\rb", "\r", "c\n\r\nd", "x" * 140_000, "sep=;", "a,b", " ", '"', "y\u2028"]
    table = table_of(frame(ids).rename({"id": name}))
    file = AnswerFile(tmp_path / "a.csv", table, "f" * 16, name)
    lines = [Answer(row, "yes", other={"my\nnote": f"{row}\r"}) for row in range(len(ids))]
    file.write(lines)
    assert file.read() == lines


def test_a_file_that_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    file = by_number(tmp_path / "a.csv")
    file.write([Answer(0, "yes")])
    before = file.path.read_bytes()
    monkeypatch.setattr("odefs.tables.answers.file.MAX_BYTES", len(before))
    with pytest.raises(TableError, match=r"it would be larger than .* that can be read again"):
        file.write([Answer(0, "yes"), Answer(1, "no")])
    assert file.path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ('"sep=,"\n"row\n",answer\n4,yes\n1,no\n8,unsure\n', "utf-8"),
        ("row;answer;comment\r\n4;YES;a\r\n1;no;b\r\n8;unsure;\r\n6;;c\r\n", "utf-8"),
        ("row,Answer\n4,TRUE\n1,FALSE\n8,u\n\n,\n", "utf-8-sig"),
        ("Row\tanswer\n4.0\t1\n1\t0\n8\tcannot say\n", "utf-16"),
        ("sep=;\nrow;x;answer\n4;ü;real\n1;;fine\n8;;Unsure \n", "cp1252"),
        ('answer,row,reasons\ny,4,"a = ""b"", c"\nn,1,\nunsure,8,\n', "utf-8"),
        ("row,line,score,outlier,answer\n4,5,2.5,yes,1.0\n1,2,1,no,0.0\n8,9,1,no,u\n", "utf-8"),
    ],
)
def test_files_that_people_edited(text, encoding, tmp_path):
    found = by_number(written(tmp_path / "a.csv", text, encoding)).read()
    assert answered(found) == ([3, 0, 7], [True, False, None])


def test_a_file_of_scores_with_an_answer_column_goes_by_id(tmp_path):
    text = "id,row,score,answer\nplain,1,2.0,yes\n'=1+1,9,2.0,no\n"
    found = by_id(written(tmp_path / "a.csv", text)).read()
    assert [(one.row, one.word) for one in found] == [(3, "yes"), (0, "no")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("row,answer,table\n1,yes,sha256:ffffffffffffffff\n", "answers on another table .*--id"),
        ("row,answer\n1,yes\n11,no\n99,no\n", "there is no row '11' .line 3.: rows .* 1 to 10"),
        ("row,answer\n0,yes\n", "there is no row '0'"),
        ("row,answer\n1.5,yes\n", "there is no row '1.5'"),
        ("row,answer\n1,perhaps\n", "the answer 'perhaps' .line 2. is not known: write yes"),
        ("row,answer\n1,yes\n1,no\n", "line 3 also has an answer in line 2, 'yes'"),
        ("answer,note\nyes,x\n", "no column 'row', which says whose answers"),
        ("row,verdict\n1,yes\n", "there is no column 'answer'"),
        ("", "the file is empty"),
    ],
)
def test_refused_files_name_what_is_wrong(text, sentence, tmp_path):
    path = written(tmp_path / "a.csv", text)
    with pytest.raises(TableError, match=sentence) as error:
        by_number(path).read()
    assert str(error.value).startswith(f"{path}: ")


def test_unknown_ids_are_named(tmp_path):
    path = written(tmp_path / "a.csv", "id,answer\nplain,yes\nnobody,no\n")
    with pytest.raises(TableError, match=r"no row has 'nobody' in the column 'id' .line 3"):
        by_id(path).read()


def test_another_table_is_fine_if_ids_name_the_rows(tmp_path):
    by_id(tmp_path / "a.csv").write([Answer(3, "yes")])
    longer = AnswerFile(tmp_path / "a.csv", table_of(frame(["new", *IDS[:-1]])), "f" * 16, "id")
    assert [one.row for one in longer.read()] == [4]


def test_the_same_answer_twice_counts_once(tmp_path):
    path = written(tmp_path / "a.csv", "row,answer\n1,yes\n2,no\n1,yes\n")
    assert answered(by_number(path).read()) == ([1, 0], [False, True])


def test_fingerprints_follow_the_file_or_the_names_of_the_columns():
    table = table_of(frame())
    assert table_fingerprint({"sha256": "ab" * 32}, table) == "ab" * 8
    other = table_of(frame().rename({"x": "z"}))
    assert len({table_fingerprint({}, table), table_fingerprint({"sha256": None}, other)}) == 2


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:6, 0] += 8
    X[6:12, 1] += 8
    table = table_of(pl.DataFrame(X, schema=list("abcd")))
    model = ODEFSModel(random_state=0, scaling="none", n_estimators=2)
    return detect_table(table, model, ColumnEncoder())


def test_answers_move_rows_that_resemble_the_answered_ones(found):
    learned = with_answers(found, [0, 1, 2, 6, 7], [False, False, False, True, None])
    assert learned.scores[:6].max() < found.scores[:6].min()
    assert learned.scores[6:12].min() > learned.scores[:6].max()
    assert learned.threshold == found.threshold
    assert learned.convention == replace(found.convention, before_answers=True)
    np.testing.assert_array_equal(learned.is_outlier, learned.scores > found.threshold)
    assert set(learned.order[:3].tolist()) <= set(range(6, 12))
    np.testing.assert_array_equal(learned.model.outlier_scores(learned.X), learned.scores)
    assert found.model._model.answers is None, "the detection before stays as it was"
    assert str(answers_note([False, True, None])).endswith("1 row confirmed, 1 ordinary")


def test_the_rule_of_flagging_stays(found):
    top = detect_table(table_of(found.X), found.model, ColumnEncoder(), flag=5)
    assert with_answers(top, [0], [False]).n_flagged == 5
    assert with_answers(top, [0], [False]).convention == top.convention
    half = replace(top, flagging=replace(top.flagging, threshold=1.5))
    half = replace(half, flagging=replace(half.flagging, convention=replace(
        half.convention, kind="threshold"
    )))  # fmt: skip
    assert with_answers(half, [0], [False]).threshold == 1.5


def test_no_answers_change_nothing(found):
    assert with_answers(found, [], []) is found
