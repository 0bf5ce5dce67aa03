"""Detection of one-hot blocks: adjacent columns of which every row has exactly one set."""

import numpy as np


def one_hot_blocks(X: np.ndarray) -> list[np.ndarray]:
    """Partition the columns: one-hot blocks together, all others alone.

    ``X`` is scaled: two-valued columns hold 0 and one other value.
    """
    indicator = X != 0
    two_valued = np.all((X == 0) | (X.max(axis=0) == X), axis=0)
    share = indicator.mean(axis=0)
    blocks: list[np.ndarray] = []
    start = 0
    while start < X.shape[1]:
        stop = _end_of_block(indicator, two_valued, share, start)
        blocks.append(np.arange(start, stop))
        start = stop
    return blocks


def _end_of_block(
    indicator: np.ndarray, two_valued: np.ndarray, share: np.ndarray, start: int
) -> int:
    """Return the end of the block that starts at ``start``, or ``start + 1`` if there is none."""
    total = 0.0
    for stop in range(start, share.size):
        if not two_valued[stop]:
            break
        total += share[stop]
        if total > 1 + 1e-9:
            break
        # Shares that add up to one are necessary and cheap to check; the rows decide.
        if (
            stop > start
            and total > 1 - 1e-9
            and (indicator[:, start : stop + 1].sum(axis=1) == 1).all()
        ):
            return stop + 1
    return start + 1
