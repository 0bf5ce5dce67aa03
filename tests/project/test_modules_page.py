"""The page of modules says what the docstrings say."""

from benchmarks.architecture.modules_page import PAGE, page


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run python -m benchmarks.architecture.modules_page"
    )


def test_every_module_has_a_sentence():
    lines = page().splitlines()
    assert [line for line in lines if line.endswith("`: ")] == []
    assert [
        lines[k] for k in range(len(lines)) if lines[k].startswith("## ") and not lines[k + 2]
    ] == []
