"""Report: collect a plain summary of a detection, then render it as a page, JSON or Markdown.

``collect`` and the modules it calls compute and never format; ``page``, ``svg`` and ``markdown``
format and never compute, with the messages of :mod:`odefs.tables.messages`.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

SCHEMA_VERSION = 2
"""Version of all JSON documents; it increases when a field is removed or changes its meaning.

``odefs/cli/schemas/output.json`` lists the fields.
"""

if TYPE_CHECKING:
    from odefs.report.report import Report
    from odefs.tables.results.detection import TableDetection


def build_report(detection: "TableDetection", with_page: bool = True) -> "Report":
    """Return the report of a detection, which is rendered on demand.

    Without ``with_page``, which saves time, it has no HTML form.
    """
    from odefs.report.collect import collect
    from odefs.report.report import Report

    return Report(*collect(detection, with_page))


def missing_packages() -> list[str]:
    """Return packages that the page needs and that are not installed; other formats need none."""
    return [name for name in ("jinja2",) if find_spec(name) is None]
