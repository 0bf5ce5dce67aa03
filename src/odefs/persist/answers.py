"""What a model has learned from answers, in files: the draws, and the answers by their cells."""

import numpy as np

from odefs.answers.cells import Cells, Draws
from odefs.answers.memory import AnswerMemory, Direction
from odefs.persist.header_values import Arrays, need, need_count, need_number, require

MAX_AMOUNT = 1e6
"""Log scores of doubles lie within 710: larger amounts come from no fit."""

MAX_SIZE = 256
"""References of a draw: cells are bytes."""


def put_cells(cells: Cells, arrays: dict[str, np.ndarray], where: str) -> list[int]:
    """Add the references to ``arrays`` and return the number of draws of each group."""
    for k, group in enumerate(cells.groups):
        arrays[f"{where}/{k}"] = group.rows
    return [group.n_draws for group in cells.groups]


def get_cells(numbers: list[object], arrays: Arrays, where: str, n_columns: int) -> Cells:
    """Return draws whose references have ``n_columns`` numbers."""
    require(numbers, "its answers have no draws")
    groups = []
    for k, n_draws in enumerate(numbers):
        rows = arrays.take(f"{where}/{k}", "f")
        require(type(n_draws) is int and n_draws > 0, "its answers have an invalid number of draws")
        assert isinstance(n_draws, int)
        require(
            rows.ndim == 2 and rows.shape[1] == n_columns and len(rows) % n_draws == 0,
            "the references of its answers have the wrong shape",
        )
        require(0 < len(rows) // n_draws <= MAX_SIZE, "the draws of its answers are too large")
        require(not np.isinf(rows).any(), "the references of its answers are not finite")
        groups.append(Draws(rows, n_draws))
    return Cells(tuple(groups))


def require_cells(cells: np.ndarray, draws: Cells) -> None:
    """Reject cells that the draws do not have."""
    # A cell beyond the references of its draw has no amounts to look up.
    sizes = np.repeat([one.size for one in draws.groups], [one.n_draws for one in draws.groups])
    require(
        cells.dtype == np.uint8 and bool((cells < sizes[:, None]).all()),
        "the cells of its rows do not exist",
    )


def put_answers(memory: AnswerMemory, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """Add the arrays to ``arrays`` and return the rest as plain values."""
    arrays["answers/cells"] = memory.cells
    arrays["answers/gaps"] = memory.gaps
    arrays["answers/amounts"] = memory.amounts
    arrays["answers/is_outlier"] = memory.is_outlier.astype(np.uint8)
    arrays["answers/rows"] = memory.numbers.astype(np.int64)
    if (direction := memory.direction) is not None:
        arrays["answers/direction/columns"] = direction.columns.astype(np.int64)
        arrays["answers/direction/values"] = np.stack([direction.mean, direction.std, direction.w])
    return {
        "unit": float(memory.unit),
        "count": int(memory.numbers.size),
        "draws": put_cells(memory.draws, arrays, "answers/references"),
    }


def get_answers(described: dict[str, object], arrays: Arrays, n_columns: int) -> AnswerMemory:
    """Return answers that can change the score of any row of ``n_columns`` numbers."""
    count = need_count(described, "count", 1, 2**31)
    draws = get_cells(need(described, "draws", list), arrays, "answers/references", n_columns)
    cells = arrays.take("answers/cells", "u", (draws.n_draws, count))
    require_cells(cells, draws)
    gaps, amounts = (arrays.take(f"answers/{name}", "f", (count,)) for name in ("gaps", "amounts"))
    unit = need_number(described, "unit")
    for values in (gaps, amounts):
        require(
            values.dtype == np.float64 and bool((np.abs(values) <= MAX_AMOUNT).all()),
            "the amounts of its answers are not valid numbers",
        )
    require(0 < unit <= MAX_AMOUNT, "the unit of its answers is not valid")
    kinds = arrays.take("answers/is_outlier", "u", (count,))
    require(bool((kinds <= 1).all()), "its answers are neither yes nor no")
    numbers = arrays.take("answers/rows", "i", (count,))
    require(bool((numbers >= 0).all()), "the row numbers of its answers are negative")
    return AnswerMemory(
        draws,
        unit,
        cells,
        gaps,
        amounts,
        kinds.astype(bool),
        numbers.astype(np.intp),
        _get_direction(arrays, n_columns),
    )


def _get_direction(arrays: Arrays, n_columns: int) -> Direction | None:
    if "answers/direction/columns" not in arrays:
        return None
    columns = arrays.take("answers/direction/columns", "i")
    require(
        columns.ndim == 1
        and columns.size > 0
        and bool(((columns >= 0) & (columns < n_columns)).all()),
        "the columns of its known outliers do not exist",
    )
    mean, std, w = found = arrays.take("answers/direction/values", "f", (3, columns.size))
    require(
        bool(np.isfinite(found).all() and (std > 0).all()),
        "the direction of its known outliers is not finite",
    )
    return Direction(columns.astype(np.intp), mean, std, w)
