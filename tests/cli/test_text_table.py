"""Lines for a terminal: nothing is lost by wrapping, and no line is wider than allowed."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odefs.cli.terminal.screen import UNLIMITED, Screen
from odefs.cli.terminal.text_table import ELLIPSIS, Column, table_lines, width_of, wrap

WORDS = st.text(st.sampled_from("abc,.é日本\u0301"), min_size=1, max_size=30)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("abc", 3),
        ("", 0),
        ("Zürich", 6),
        ("日本語", 6),
        ("ｱ", 1),
        ("e\u0301", 1),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("😀", 2),
        ("❤\ufe0f", 2),
        ("काम", 2),
    ],
)
def test_widths_are_those_of_a_terminal(text, cells):
    assert width_of(text) == cells


@given(text=TEXTS, width=st.integers(2, 60))
def test_wrapped_lines_fit_and_hold_all_words(text, width):
    lines = wrap(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    if width_of(text) <= width:
        assert lines == [text]


@given(text=TEXTS, width=st.integers(3, 60))
def test_cropped_words_end_in_an_ellipsis(text, width):
    lines = wrap(text, width, crop=True)
    assert all(width_of(line) <= width for line in lines)
    long = [word for word in text.split() if width_of(word) > width]
    assert sum(line.endswith(ELLIPSIS) for line in lines) == len(long)


def test_words_are_divided_only_if_they_are_longer_than_a_line():
    assert wrap("  one two three", 9) == ["  one two", "three"]
    assert wrap("a abcdefghij b", 4) == ["a", "abcd", "efgh", "ij b"]
    assert wrap("a abcdefghij b", 4, crop=True) == ["a", "abc…", "b"]
    assert wrap("日本語", 4) == ["日本", "語"]


COLUMNS = [Column("rank", is_right=True), Column("name"), Column("why")]


def test_columns_are_aligned():
    header, lines = table_lines(COLUMNS, [["1", "日本", "far"], ["12", "row 7", ""]], 80)
    assert header == ["rank  name   why"]
    assert lines == ["   1  日本   far", "  12  row 7"]


def test_the_widest_columns_are_wrapped():
    rows = [["1", "first", "one two three four"], ["2", "a longer name", "five"]]
    header, lines = table_lines(COLUMNS, rows, 26)
    assert header == ["rank  name       why"]
    assert lines == [
        "   1  first      one two",
        "                 three",
        "                 four",
        "   2  a longer   five",
        "      name",
    ]


def test_long_titles_end_above_the_rows():
    header, lines = table_lines([Column("a name of five words"), Column("b")], [["1", "2"]], 13)
    assert header == ["a name of", "five words  b"]
    assert lines == ["1           2"]


@given(rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4), width=st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal(rows, width):
    header, lines = table_lines(COLUMNS, rows, width)
    assert all(width_of(line) <= width for line in [*header, *lines])


BOLD = "\x1b[1m"


@pytest.mark.parametrize(
    ("is_terminal", "environment", "is_bold"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_text_is_bold_on_terminals(is_terminal, environment, is_bold, monkeypatch, capsys):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in ({"TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    screen = Screen()
    screen.say("bold\n", bold=True)
    screen.say("plain\x1b[31m")
    screen.table([Column("why")], [["x"]])
    shown = capsys.readouterr().out
    assert (BOLD in shown) == is_bold
    assert without_styles(shown) == "bold\n\nplain[31m\nwhy\nx\n"


def without_styles(text):
    return text.replace(BOLD, "").replace("\x1b[0m", "")


def test_lines_are_wrapped_at_the_columns_of_the_environment_or_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert Screen().width == 60
    monkeypatch.setenv("COLUMNS", "0")
    assert Screen().width == UNLIMITED
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda *of: os.terminal_size((91, 20)))
    assert Screen().width == 91
