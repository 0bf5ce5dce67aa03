"""Map of the rows: the first two principal components of the columns that matter for flagged rows.

Each column is scaled by its middle range and weighted by its importance, so that the map shows why
rows are flagged. Extreme values are clipped, because a single row would shrink all others to a
point. Hidden columns are left out, because coordinates could reveal their values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.report.columns import sample_rows
from odefs.report.rows import foremost_rows
from odefs.report.scores import plain
from odefs.system.threads import one_blas_thread
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import Extent, RowTexts, extent_of

ORDINARY_ROWS = 2_000
FLAGGED_ROWS = 1_000
MAX_COLUMNS = 200
BOUND = 6.0


def map_of(detection: TableDetection, first: int = 1) -> dict[str, Any] | None:
    """Return the map of a detection, with all rows that the report lists.

    Rows without names are numbered from ``first``.
    """
    extent = extent_of(detection)
    top = [group[0] for group in foremost_rows(detection, extent.order)]
    return collect_map(detection, extent, top, RowTexts(detection, first))


def collect_map(
    detection: TableDetection, extent: Extent, top: Sequence[int], names: Sequence[object]
) -> dict[str, Any] | None:
    """Return points of a sample of rows and of the top-ranked rows; None for under two columns."""
    importances = detection.feature_shares
    columns, sources = detection.encoder.columns, detection.encoder.sources
    hidden = np.array([name in detection.hidden for name in columns], dtype=bool)
    used = np.flatnonzero((importances > 0) & ~hidden[sources])
    used = np.sort(used[np.argsort(-importances[used], kind="stable")][:MAX_COLUMNS])
    rows = _rows(extent, top)
    # Missing numbers are drawn at what is usual in their column.
    scaled, varies = _scaled(detection.encoder.filled(detection.X[rows])[:, used])
    used = used[varies]
    if used.size < 2:
        return None
    clipped = (np.abs(scaled[:, varies]) > BOUND).any(axis=1)
    weighted = np.clip(scaled[:, varies], -BOUND, BOUND) * np.sqrt(
        importances[used] / importances[used].max()
    )
    weighted -= weighted.mean(axis=0)
    with one_blas_thread():
        _, size, axes = np.linalg.svd(weighted, full_matrices=False)
        # The sign of a principal component is arbitrary; fixing it makes pages reproducible.
        axes *= np.where(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[
            :, None
        ]
        points = weighted @ axes[:2].T
    return {
        "columns": sorted({columns[k] for k in np.unique(sources[used])}),
        "explained": [float(share) for share in (size**2 / max((size**2).sum(), 1e-300))[:2]],
        "drawn": int(rows.size),
        "clipped": np.flatnonzero(clipped).tolist(),
        "points": [
            [
                round(float(x), 3),
                round(float(y), 3),
                int(place),
                float(f"{detection.scores[row]:.4g}"),
                plain(names[row]),
            ]
            for row, place, (x, y) in zip(rows.tolist(), extent.places(rows), points, strict=True)
        ],
    }


def _rows(extent: Extent, top: Sequence[int]) -> np.ndarray:
    """Return a sample of all rows, a sample of flagged rows, and the top-ranked rows."""
    some = sample_rows(extent.drawn, ORDINARY_ROWS, seed=2)
    flagged = sample_rows(extent.drawn_flagged, FLAGGED_ROWS, seed=3)
    return np.unique(np.concatenate([some, flagged, np.array(top, np.intp)]))


def _scaled(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Center columns and scale them to unit spread, missing cells at 0; and which ones vary."""
    blank = np.isnan(X)
    filled = np.where(
        blank, np.nan_to_num(np.nanmedian(np.where(blank.all(axis=0), 0.0, X), axis=0)), X
    )
    low, middle, high = np.quantile(filled, [0.05, 0.5, 0.95], axis=0)
    two_values = ((filled == low) | (filled == high)).all(axis=0)
    # As in nearest_rows: 3.29 is the distance of these quantiles in standard deviations.
    spread = np.where((high > low) & ~two_values, (high - low) / 3.29, filled.std(axis=0))
    varies = spread > 0
    return (filled - middle) / np.where(varies, spread, 1.0), varies
