"""Limit on memory relative to file size: small files that expand to gigabytes are suspicious.

They are read in batches, or refused.
"""

ALWAYS_BYTES = 200 * 10**6
"""Tables up to this size are always allowed."""
LARGEST_GROWTH = 250
"""Bytes of memory per byte of a file; repeated values reach about 150 in xlsx, 20 elsewhere."""


def most_bytes(size: int) -> int:
    """Return the memory limit for a table in a file of this size."""
    return max(ALWAYS_BYTES, LARGEST_GROWTH * size)
