"""Wording of messages: the only tests that compare sentences. Others compare kinds."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import odefs
from odefs import ODEFS, FeatureSelection, LeSiNN
from odefs.baselines import CINFO
from odefs.datasets.transactions import transactions_path
from odefs.ensemble.flag_threshold import tail_threshold
from odefs.ensemble.model import FLAG_RATE
from odefs.inspection.explanation import Reason
from odefs.report import build_report
from odefs.report.rows import reason_record
from odefs.tables import messages
from odefs.tables.flagging import model_convention
from odefs.tables.messages.notes import CONVENTIONS, EXCLUSIONS, NOTES
from odefs.tables.messages.values import duration, first_of, quoted_name
from odefs.tables.records.checks import ValueCheck
from odefs.tables.records.drift import ColumnDrift
from odefs.tables.records.notes import (
    ConventionKind,
    Exclusion,
    ExclusionKind,
    FlagConvention,
    Note,
    NoteKind,
    as_plain,
)

EXAMPLES = {
    "encoding": Note("encoding", value="cp1252"),
    "not_utf8": Note("not_utf8", value="cp1252"),
    "header_like_data": Note("header_like_data"),
    "header_is_row": Note("header_is_row", line=1),
    "unnamed_columns": Note("unnamed_columns", columns=("column 1",)),
    "repeated_name": Note("repeated_name", "a", ("a (2)",)),
    "more_repeated_names": Note("more_repeated_names", count=2),
    "leading_zeros": Note("leading_zeros", "a"),
    "apostrophes_removed": Note("apostrophes_removed", count=2),
    "short_lines": Note("short_lines", line=4, count=2, n_fields=1, limit=3),
    "rows_above": Note("rows_above", row=4, count=2, value="Prices"),
    "joined_header": Note("joined_header", row=3, count=2),
    "units_row": Note("units_row", row=5, details=("kg", "m")),
    "repeated_header": Note("repeated_header", line=40, count=2),
    "total_row": Note("total_row", "a", row=40, value="Total"),
    "inner_totals": Note("inner_totals", "a", row=20, count=3, value="Subtotal x"),
    "rows_below": Note("rows_below", line=41, count=2, value="Source: us"),
    "sheet_rows": Note("sheet_rows", row=5, count=155, value="159"),
    "other_tables": Note("other_tables", count=2, details=("J3:M9", "A50:C60")),
    "other_sheets": Note("other_sheets", details=("b", "c")),
    "later_sheet": Note("later_sheet", value="data", details=("cover", "read me")),
    "separated_by_spaces": Note("separated_by_spaces"),
    "error_cells": Note("error_cells", "a", row=35, count=2),
    "text_format": Note(
        "text_format", "a", format="numbers", details=("currencies", "thousands_marks")
    ),
    "limits": Note("limits", "a", row=1, count=79, value="<0.5"),
    "unreadable_cells": Note(
        "unreadable_cells", "a", row=7, count=2, value="x", format="ISO dates"
    ),
    "mixed_cells": Note("mixed_cells", "a", row=51, share=0.5),
    "few_numbers": Note("few_numbers", "a", row=1, count=2, limit=90, value="x", format="numbers"),
    "missing_code": Note("missing_code", "a", count=2, value=-999.0),
    "infinite_cells": Note("infinite_cells", "a", count=2),
    "identifier_as_category": Note("identifier_as_category", "a"),
    "known_cases": Note("known_cases", "a", count=2, n_normal=5),
    "excel_names_cut": Note("excel_names_cut", count=2, limit=255),
    "excel_texts_cut": Note("excel_texts_cut", columns=("a", "b"), limit=32_767),
    "answers": Note("answers", count=2, n_normal=5),
    "groups": Note("groups", columns=("shop",), count=24),
    "single_group": Note("single_group", columns=("shop",), count=1),
    "pooled_groups": Note("pooled_groups", columns=("shop", "day"), count=2, limit=1000),
    "unknown_groups": Note("unknown_groups", columns=("shop",), count=2),
    "unused_columns": Note("unused_columns", columns=("a", "b"), count=2),
}
SENTENCES = {
    "not_utf8": "read as cp1252 text because it is not valid UTF-8",
    "repeated_name": "a occurs twice in the header; the second is called a (2)",
    "short_lines": (
        "2 lines have fewer than 3 fields; the absent cells count as missing (first: line 4, with "
        "1)"
    ),
    "rows_above": "the table starts in row 4; 2 rows above it were left out (first: 'Prices')",
    "rows_below": "2 lines below the table were left out (from line 41 on: 'Source: us')",
    "text_format": "a: text read as numbers (currencies, thousands separators)",
    "unreadable_cells": "a: 2 cells are not in the format of the column (ISO dates) and count as "
    "missing (first: 'x' in row 7)",
    "mixed_cells": (
        "a: 50% of the cells are numbers, the others text (first change in row 51); number=['a'] "
        "treats the text as missing"
    ),
    "few_numbers": (
        "a: only 2 of 90 cells can be read as numbers, the others count as missing "
        "(first: 'x' in row 1)"
    ),
    "missing_code": "a: 2 cells are -999, possibly a code for missing; na=['-999'] treats it so",
    "known_cases": "a: 2 known outliers, 5 known to be ordinary",
    "answers": "answers of a review: 2 rows confirmed, 5 ordinary",
    "groups": "values are compared within 24 groups by shop",
    "pooled_groups": (
        "2 rows belong to none of the 1,000 largest groups by shop and day and are compared with "
        "the whole table"
    ),
    "unknown_groups": (
        "2 rows belong to groups by shop that the model does not know and are compared with the "
        "whole training table"
    ),
    "unused_columns": "2 columns are not in the model and were not used: a, b",
}
OF_ONE = {
    "more_repeated_names": "1 more name occurs",
    "apostrophes_removed": "from 1 cell",
    "short_lines": "1 line has",
    "rows_above": "1 row above it was left out",
    "rows_below": "1 line below the table was left out",
    "other_tables": "it has another table",
    "unreadable_cells": "1 cell is not in the format of the column (ISO dates) and counts as",
    "missing_code": "1 cell is -999",
    "infinite_cells": "1 infinite cell counts",
    "error_cells": "1 error cell such as #DIV/0! counts as missing (in row 35 of the sheet)",
    "known_cases": "1 known outlier,",
    "excel_names_cut": "1 column name is",
    "answers": "1 row confirmed,",
    "pooled_groups": "1 row belongs",
    "unknown_groups": "1 row belongs",
    "unused_columns": "1 column is not in the model and was not used",
}


def test_every_kind_has_a_sentence():
    assert EXAMPLES.keys() == NOTES.keys() == set(get_args(NoteKind))
    assert EXCLUSIONS.keys() == set(get_args(ExclusionKind))
    assert CONVENTIONS.keys() == set(get_args(ConventionKind))
    made = [*EXAMPLES.values(), *map(Exclusion, EXCLUSIONS)]
    made += [
        FlagConvention(kind, expected=1.0, n_rows=40, rate=2.0, share=0.05, count=3)
        for kind in CONVENTIONS
    ]
    sentences = [str(one) for one in made]
    assert all(sentences)
    assert len(set(sentences)) == len(sentences)
    assert not any("None" in sentence for sentence in sentences)


@pytest.mark.parametrize("kind", SENTENCES)
def test_sentences(kind):
    assert str(EXAMPLES[kind]) == SENTENCES[kind]


@pytest.mark.parametrize("kind", OF_ONE)
def test_one_is_singular(kind):
    assert OF_ONE[kind] in str(replace(EXAMPLES[kind], count=1))


def test_names_are_listed_up_to_a_number_and_have_no_control_characters():
    assert str(Note("unnamed_columns", columns=tuple("abcde"))).endswith(": a, b, c and 2 more")
    assert str(Note("leading_zeros", "a\x1b[31m\nb")).startswith("a[31m b: ")
    assert first_of("ab", 2) == "a, b"


def test_notes_on_a_sample_have_the_rows_of_the_table():
    note = EXAMPLES["unreadable_cells"].of_sample([3 * row for row in range(10)])
    assert (note.row, note.is_sampled) == (21, True)
    assert str(note).endswith("'x' in row 21) (counted in a sample of the rows)")
    assert EXAMPLES["leading_zeros"].of_sample([]) == EXAMPLES["leading_zeros"]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_rows_of_the_table_count_from_1_in_files(kind):
    note = EXAMPLES[kind]
    shown = note.numbered(first=1)
    assert shown.numbered(first=1) == shown, "once"
    assert shown.numbered(first=0) == note
    moved = kind in ("limits", "unreadable_cells", "few_numbers", "mixed_cells")
    assert shown.row == (note.row + 1 if moved else note.row)
    assert "first_row" not in as_plain(shown)


def test_rows_of_a_sheet_are_those_of_the_table():
    note = EXAMPLES["sheet_rows"]
    assert "row 0 is row 5 of the sheet, row 154 is row 159" in str(note)
    assert "row 1 is row 5 of the sheet, row 155 is row 159" in str(note.numbered(first=1))


def test_notes_as_plain_values_have_what_applies():
    note = EXAMPLES["unnamed_columns"]
    assert as_plain(note) == {
        "kind": "unnamed_columns",
        "columns": ["column 1"],
        "message": str(note),
    }
    assert as_plain(Note("known_cases", "a", count=0, n_normal=0))["count"] == 0
    assert as_plain(Exclusion("empty")) == {"kind": "empty", "message": "empty"}


@pytest.mark.parametrize(
    ("convention", "sentence"),
    [
        (FlagConvention("auto", expected=2.5, n_rows=12_000), "about 2.5 of 12,000"),
        (FlagConvention("auto", expected=1.0, n_rows=90, by_training=True), "the training rows"),
        (
            FlagConvention("auto", expected=1.0, n_rows=90, before_answers=True),
            "before the answers",
        ),
        (FlagConvention("paper", rate=2.0), "mean + 2 std of all scores"),
        (
            FlagConvention("paper", rate=2.5, by_training=True),
            "mean + 2.5 std of the training scores",
        ),
        (
            FlagConvention("paper", rate=2.0, before_answers=True),
            "mean + 2 std of all scores before the answers",
        ),
        (FlagConvention("too_few_rows", n_rows=30), "fewer than 30 rows"),
        (
            FlagConvention("model_contamination", share=0.05, before_answers=True),
            "the threshold that flags 5% of the rows before the answers",
        ),
        (
            FlagConvention("model_contamination", share=0.05),
            "the threshold that flags 5% of the rows",
        ),
        (
            FlagConvention("contamination", share=0.125),
            "the 12.5% of the rows with the highest scores",
        ),
        (FlagConvention("top", count=1), "the row with the highest score,"),
        (FlagConvention("top", count=2000), "the 2,000 rows with the highest scores,"),
    ],
)
def test_rules(convention, sentence):
    assert sentence in str(convention)


def test_numbers_of_flagged_rows():
    rule = FlagConvention("threshold")
    assert [messages.flagged(n, rule).partition(".")[0] for n in (0, 1, 2000)] == [
        "No row stands out",
        "1 row stands out",
        "2,000 rows stand out",
    ]


@pytest.mark.parametrize(
    ("model", "convention"),
    [
        (ODEFS(), FlagConvention("auto", expected=1.0, n_rows=90)),
        (LeSiNN(max_false_flags=3), FlagConvention("auto", expected=3.0, n_rows=90)),
        (ODEFS.paper(n_estimators=4), FlagConvention("paper", rate=FLAG_RATE)),
        (CINFO(contamination="paper"), FlagConvention("paper", rate=FLAG_RATE)),
        (ODEFS(contamination=0.1), FlagConvention("model_contamination", share=0.1)),
    ],
)
def test_the_convention_of_a_model(model, convention):
    X = np.random.default_rng(0).normal(size=(90, 3))
    assert model_convention(model.set_params(random_state=0).fit(X)) == convention


def test_the_threshold_of_candidates_is_not_that_of_flags():
    frame = pd.read_csv(transactions_path())
    model = ODEFS(selection=FeatureSelection(candidate_threshold=3), scaling="none", random_state=0)
    found = odefs.detect(frame, id="transaction", model=model)
    assert found.convention == FlagConvention("auto", expected=1.0, n_rows=800)
    assert found.threshold == tail_threshold(found.scores, 1.0)
    assert str(found.convention) in build_report(found).markdown()


def table_with_notes():
    return pd.DataFrame(
        {
            "text": ["SECRET"] * 3 + [f"{i % 7},5" for i in range(57)],
            "amount": [f"{i % 9},25" for i in range(60)],
            "x": [float(i * i % 17) for i in range(60)],
        }
    )


def test_hiding_a_column_drops_its_notes_and_no_others():
    """The sentence on ``amount`` has the word "text", which is the name of the hidden column."""
    notes = {note.column for note in odefs.detect(table_with_notes()).notes}
    assert notes == {"text", "amount"}
    hidden = build_report(odefs.detect(table_with_notes(), hide=["text"]))
    assert {(note["kind"], note["column"]) for note in hidden.summary["notes"]} == {
        ("text_format", "amount")
    }
    for shown in (hidden.html(), hidden.markdown(), hidden.json()):
        assert "SECRET" not in shown


@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_sentence_mentions_a_hidden_column(kind):
    note = EXAMPLES[kind]
    named = frozenset({*note.columns, *([note.column] if note.column else [])})
    assert all(note.names(frozenset({name})) for name in named)
    assert not note.names(frozenset({"another", "text", "cells"}))


def test_numbers_times_and_control_characters_as_people_read_them():
    assert messages.value(-62_135_596_800.0, "time") == "0001-01-01"
    assert messages.value(-62_135_510_340.0, "time") == "0001-01-02 00:01"
    assert messages.value(12345678.91, "number") == "12,345,679"
    assert messages.value(1426.89, "number") == "1426.89"
    midnight = Reason(
        "t", 0.0, 1.0, 1.0, kind="time", share=1.0, percentile=0.0, usual=(1.7e9, 1.7e9 + 86400)
    )
    assert messages.reason_text(midnight) == "t = 1970-01-01"
    assert messages.reason_text(replace(midnight, usual=(3600.0, 7260.0))) == "t = 00:00"
    assert (
        messages.reason_usual(replace(midnight, usual=(0.0, 7260.0)))
        == "similar rows have 00:00 to 02:01"
    )
    assert messages.reason_text(replace(midnight, value=None)) == "t = (missing)"
    assert messages.reason_text(midnight, hidden=True) == "t = (hidden)"
    assert messages.without_controls("a\x1b[31mb\nc\x9b\x07d\u202e") == "a[31mb cd"


def test_shares_of_rows_are_never_rounded_to_none_or_all():
    rare = Reason(
        "c", "x", 1.0, 1.0, kind="category", share=1.0, frequency=0.0004, usual=("y", 0.9999)
    )
    assert messages.reason_details(rare) == "in <0.1% of the rows; >99.9% of similar rows have y"
    assert "under 0.01% of the values" in messages.drift(
        ColumnDrift("a", 0.00002, [], 0.0, 0.0, 0.0)
    )


def test_as_many_flags_as_without_outliers_do_not_dismiss_the_row():
    expected = FlagConvention("auto", expected=1.0, n_rows=800)
    assert messages.flagged(1, expected) == (
        "1 row stands out; in a table of this size without outliers, about 1 would as well."
    )
    summary = {"flagged": 1, "rows": 800, "convention": {"kind": "auto", "expected": 1.0}}
    assert messages.headline(summary) == (
        "1 of 800 rows stands out; without outliers, about 1 would too."
    )
    more = "2 rows stand out. In a table of this size without outliers, about 1 would."
    assert messages.flagged(2, expected) == more


@pytest.mark.parametrize(("n_flagged", "rows"), [(0, "No row stands"), (3, "3 rows stand")])
def test_rows_of_another_table_are_compared_with_a_rate(n_flagged, rows):
    """The training table may have another number of rows."""
    training = FlagConvention("auto", expected=2.0, n_rows=9000, by_training=True)
    told = f"{rows} out. Of ordinary rows, about 1 in 4,500 would."
    assert messages.flagged(n_flagged, training) == told


def test_what_is_usual_in_a_group_is_told_if_it_differs_from_the_value():
    group = (("shop", "Lyon"),)
    paid = Reason("paid", False, 1.0, 1.0, "boolean", 0.1, usual=(0.0, 0.5), group=group)
    day = Reason("n", 3.0, 1.0, 1.0, "number", 0.1, usual=(3.0, 3.0), group=group)
    wide = replace(day, usual=(3.0, 4.0))
    assert messages.reason_texts([paid, day, wide, replace(paid, value=True)]) == [
        "paid = no",
        "n = 3",
        "n = 3 (for shop = Lyon usually 3 to 4)",
        "paid = yes (usually no, 50%)",
    ]
    assert messages.reason_details(day) == ""


def test_equal_bounds_of_what_is_usual_are_one_value():
    reason = Reason("x", 9.0, 1.0, 1.0, "number", usual=(4.0, 4.0))
    assert messages.reason_usual(reason) == "similar rows have 4"
    assert messages.reason_usual(replace(reason, usual=(4.0, 5.0))) == "similar rows have 4 to 5"


def test_short_reasons_name_the_group_once():
    group = (("shop", "Lyon"),)
    sales = Reason("sales", 3.0, 1.0, 1.0, "number", usual=(12.0, 40.0), group=group)
    pay = Reason("pay", "cash", 1.0, 1.0, "category", usual=("card", 0.9), group=group)
    records = [reason_record(one, frozenset()) for one in (sales, pay)]
    assert messages.short_reasons(records) == [
        "sales = 3 (low; for shop = Lyon usually 12 to 40)",
        "pay = cash (usually card, 90%)",
    ]
    hidden = [reason_record(one, frozenset(["shop", "pay"])) for one in (sales, pay)]
    assert messages.short_reasons(hidden) == [
        "sales = 3 (low; in its group usually 12 to 40)",
        messages.short_reason(hidden[1]),
    ]


def test_the_only_row_of_a_group_is_called_so():
    group = (("shop", "Lyon"),)
    tax = Reason("tax", 20.0, 1.0, 1.0, "number", percentile=50.0, group=group, alone=True)
    only = "the only row with shop = Lyon"
    assert messages.reason_texts([tax, tax]) == [f"tax = 20 ({only})", "tax = 20"]
    assert messages.reason_texts([tax], frozenset(["shop"])) == [
        "tax = 20 (the only row of its group)"
    ]
    record = reason_record(tax, frozenset())
    assert messages.short_reasons([record, record]) == [f"tax = 20 ({only})", "tax = 20"]
    assert only in messages.reason_details(tax)
    assert only in messages.sentence(record)


def test_positions_among_training_rows_claim_no_more_than_a_model_file_knows():
    """Of many training rows a file has 257 numbers, of which the highest is above 256."""
    highest = Reason(
        "b", 99.0, 1.0, 1.0, "number", 1.0, percentile=99.8, equal=0.4, of_training=True
    )
    assert messages.reason_details(highest) == "as high as the highest of the training rows"
    lowest = replace(highest, percentile=0.2)
    assert messages.reason_details(lowest) == "as low as the lowest of the training rows"
    near = replace(highest, percentile=99.4)
    assert messages.reason_details(near) == "above at least 99% of the training rows"
    half = replace(highest, percentile=70.0, equal=60.0)
    assert messages.reason_details(half) == "above at least 40% of the training rows"
    above = replace(highest, percentile=100.0, equal=0.0)
    assert messages.reason_details(above) == "above all training rows"
    sampled = replace(above, of_training=False)
    assert messages.reason_details(sampled) == "among the highest of all rows"


def test_far_more_flagged_rows_are_compared_with_the_training_table():
    far_more = "far more than a table like the training table would have"
    assert messages.many_more_flagged(0.0367, 0.0067) == (
        f"3.67% of the rows are flagged, 0.67% in training: {far_more}."
    )
    assert messages.flagged_share(0.0367, 0.0067, many_more=True).endswith(far_more)
    assert "far more" not in messages.flagged_share(0.0067, 0.0067)


def test_what_the_model_relies_on():
    assert messages.noise([]) == ""
    assert messages.noise(list("abcdefgh")).endswith("a, b, c, d, e, f and 2 more.")
    assert messages.trusted(0, has_noise=True) == "", "nothing follows from it"
    assert messages.trusted(0, was_given=True) == "All columns are weighted equally, as requested."
    assert "25%" in messages.trusted(0.25)


def test_the_group_of_a_row_is_named_once():
    group = (("shop", "Lyon"), ("day", None))
    sales = Reason("sales", 3.0, 1.0, 1.0, "number", usual=(12.0, 40.0), group=group)
    pay = Reason("pay", "cash", 1.0, 1.0, "category", usual=("card", 0.9), group=group)
    assert messages.reason_texts([sales, pay]) == [
        "sales = 3 (for shop = Lyon, day = (missing) usually 12 to 40)",
        "pay = cash (usually card, 90%)",
    ]
    assert messages.reason_texts([sales], frozenset({"shop"})) == [
        "sales = 3 (for day = (missing) usually 12 to 40)"
    ]
    assert messages.reason_texts([sales], frozenset({"shop", "day"})) == [
        "sales = 3 (in its group usually 12 to 40)"
    ]
    assert messages.reason_texts([sales], frozenset({"sales"})) == ["sales = (hidden)"]


def test_columns_left_out_for_the_same_reason_share_a_line():
    left_out = {f"c{k}": Exclusion("empty") for k in range(20)}
    left_out |= {
        "a": Exclusion("mostly_missing", 0.6),
        "b": Exclusion("mostly_missing", 0.9),
        "c": Exclusion("constant"),
    }
    assert messages.left_out_lines(left_out) == [
        "c0, c1, c2, c3, c4, c5, c6, c7 and 12 more (empty)",
        "a, b (missing in 60% to 90% of the rows)",
        "c (one value)",
    ]
    assert "--keep" in messages.no_columns(left_out)
    assert "prices, staff (--sheet NAME)" in messages.no_columns(left_out, ("prices", "staff"))
    assert "a (one value)" in messages.no_columns({"a": Exclusion("constant")})
    prose = {f"{k}{'x' * 5000}": Exclusion("empty") for k in range(8)}
    assert len(messages.no_columns(prose)) < 700


def test_notes_that_differ_in_the_column_share_a_line():
    notes = [
        Note("text_format", "a", format="numbers"),
        Note("leading_zeros", "code"),
        Note("text_format", "b", format="numbers"),
        Note("text_format", "c", format="ISO dates"),
        Note("infinite_cells", "a", count=1),
        Note("infinite_cells", "b", count=1),
    ]
    lines = messages.note_lines(notes)
    assert lines[0] == "a, b: text read as numbers"
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("name", "typed"),
    [("a_b", "a_b"), ("atomic mass", '"atomic mass"'), ("$ paid", "'$ paid'"), ("", '""')],
)
def test_names_are_typed_with_quotation_marks_where_a_shell_needs_them(name, typed):
    assert quoted_name(name) == typed


@pytest.mark.parametrize(
    ("unit", "cell", "bounds"),
    [
        ("", "0.22", "0.137 to 0.318"),
        ("%", "22%", "13.7% to 31.8%"),
        ("kg", "0.22 kg", "0.137 to 0.318 kg"),
        ("duration", "0:00:00.220000", "0:00:00.137000 to 0:00:00.318000"),
    ],
)
def test_numbers_are_shown_in_the_unit_of_their_column(unit, cell, bounds):
    usual = (0.137, 0.318)
    assert messages.value(0.22, "number", unit=unit) == cell
    assert messages.span(usual, "number", unit=unit) == bounds
    reason = Reason("margin", 0.22, 1.0, 1.0, "number", usual=usual, unit=unit)
    assert messages.reason_text(reason) == f"margin = {cell}"
    assert messages.reason_usual(replace(reason, group=(("shop", "a"),))) == (
        f"for shop = a usually {bounds}"
    )
    record = reason_record(reason, frozenset())
    assert messages.short_reason(record) == f"margin = {cell}"
    assert bounds in messages.sentence(record)
    check = ValueCheck("extreme_value", "margin", 1, values=(2.2,), usual=usual, unit=unit)
    assert bounds in str(check)


def test_cells_to_check_are_named_with_what_is_wrong():
    def text(kind, cell, *usual, of="number"):
        return messages.checked_cell(ValueCheck(kind, "c", 1, usual=usual, of=of), cell)

    assert text("extreme_value", 999999.0, 0.0, 55.0) == "c = 999999 (far from all others)"
    assert text("negative", -1.0) == "c = -1 (negative)"
    assert text("zero", 0.0) == "c = 0 (zero among positive numbers)"
    assert text("code", "-999", of="category") == "c = -999 (possibly a code for missing)"
    assert text("early_date", -4877625600.0, of="time") == "c = 1815-06-09 (before 1900)"
    assert text("spelling", "Phlippines", "Philippines") == (
        "c = Phlippines (one letter away from 'Philippines')"
    )
    assert text("case_or_spaces", "peru ", "Peru") == (
        "c = 'peru ' (differs from 'Peru' only in letter case or spaces)"
    )
    assert text("text_in_numbers", "n/a?", "numbers") == "c = n/a? (text among numbers)"
    assert text("total_row", "Total") == "c = Total (label of a total)"
    assert "\n" not in text("text_in_numbers", "a\nb", "numbers")
    assert len(text("text_in_numbers", "a" * 5000, "numbers")) < 200
    copies = ValueCheck("copied_row", None, 1)
    assert messages.checked_row(copies, 17) == "copy of row 17"
    assert messages.checked_row(copies) == "copy of an earlier row"


def test_durations_are_signed_as_a_whole():
    assert duration(-5) == "-0:00:05"
    assert duration(86_400 * 40) == "40 days, 0:00:00"


def test_a_sample_is_named_only_where_it_is_one():
    said = messages.sampled(50_000, judged_by=20_000, drawn=10_000)
    assert "20,000" in said
    assert "10,000" in said
    of_model = messages.sampled(50_000, judged_by=None, drawn=10_000)
    assert "10,000" in of_model
    assert "inferred" not in of_model
    everything = messages.sampled(180, judged_by=180, drawn=180)
    assert "180" not in everything
    assert "memory" not in said + of_model + everything
