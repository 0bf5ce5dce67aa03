"""What the tests of the report in a real browser share."""

from dataclasses import replace

import polars as pl
import pytest

from browser import start_browser
from odefs.datasets.transactions import transactions_path
from odefs.detection import detect
from odefs.report import build_report


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start_browser(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report():
    """Of the bundled example."""
    found = detect(pl.read_csv(transactions_path()), id="transaction")
    return build_report(replace(found, source={"name": "transactions.csv"}))
