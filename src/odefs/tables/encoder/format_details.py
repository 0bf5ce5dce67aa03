"""What text that is read as numbers contains besides them, which its note tells."""

import re
from collections.abc import Sequence

from odefs.tables.encoder.text_formats import SAMPLE_CELLS, TextFormat, is_missing_value
from odefs.tables.encoder.written_numbers import CURRENCY


def format_details(levels: Sequence[str], style: TextFormat) -> tuple[str, ...]:
    """Return what the text contains besides numbers, as stable keywords."""
    shown = [level for level in levels if not is_missing_value(level)][:SAMPLE_CELLS]
    if style.kind != "number":
        return ()
    extras = []
    percent = sum("%" in level for level in shown)
    if 0 < percent < len(shown):
        extras.append("some_percentages")
    if re.search(CURRENCY, "\n".join(shown)):
        extras.append("currencies")
    mark = "." if "decimal comma" in style.name else ","
    grouped = re.compile(rf"\d[{mark}'\u2019\s]\d{{3}}(?!\d)")
    if any(map(grouped.search, shown)):
        extras.append("thousands_marks")
    return tuple(extras)
