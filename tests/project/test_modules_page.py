"""The page of modules says what the docstrings say."""

from benchmarks.architecture.modules_page import PAGE, page


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run python -m benchmarks.architecture.modules_page"
    )


def test_every_module_has_a_sentence():
    assert [line for line in page().splitlines() if line.endswith("`: ")] == []
