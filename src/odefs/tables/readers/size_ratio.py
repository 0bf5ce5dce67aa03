"""How much memory a file of a given size may ask for: small files that become gigabytes are read in parts, or refused."""

ALWAYS_BYTES = 200 * 10**6
"""A table may take so much whatever its file."""
LARGEST_GROWTH = 250
"""Bytes of memory for each byte of a file; tables of repeated values reach about 150 in Excel's format, and 20 in others."""


def most_bytes(size: int) -> int:
    """The most memory that a table in a file of this size is given."""
    return max(ALWAYS_BYTES, LARGEST_GROWTH * size)
