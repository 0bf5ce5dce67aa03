"""The cells of a large table as an encoder reads them."""

from collections.abc import Iterator

from odefs.tables.columns import Columns
from odefs.tables.encoder.encoder import TableEncoder
from odefs.tables.frames import columns_of
from odefs.tables.large import LargeTable


def recognised_batches(table: LargeTable, encoder: TableEncoder) -> Iterator[tuple[Columns, Columns]]:
    """The used columns a batch at a time, as they are and as the encoder reads them: cell by cell, wherever batches are cut."""
    for _, part in table.batches(encoder.columns, len(encoder.get_feature_names_out())):
        given = columns_of(part)
        yield given, encoder.recognised(given, is_part=True)
