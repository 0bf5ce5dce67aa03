"""The fused kernel in Triton: product, minimum, root and sum of a block of rows in registers.

No distance is written to memory. Imported only where Triton is installed (``triton_launch``). Every
program processes ``BLOCK_ROWS`` rows of one component, member by member; the subsets are the lines
of a tile, and so are the columns of the table, which are gathered by their numbers.
"""

import triton
import triton.language as tl


@triton.jit
def sum_of_nearest(
    table,
    stride,
    columns,
    references,
    norms,
    out,
    out_stride,
    WIDTH: tl.constexpr,
    MEMBERS: tl.constexpr,
    SUBSETS: tl.constexpr,
    LINES: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    ROOT: tl.constexpr,
):
    component = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    line = tl.arange(0, LINES)
    place = tl.arange(0, BLOCK_COLUMNS)
    nearest = tl.full((LINES, BLOCK_ROWS), float("inf"), tl.float32)
    size = tl.zeros((BLOCK_ROWS,), tl.float32)
    # Unrolled: in loops of unknown length, software pipelining (two stages, blocks of 32) gave
    # wrong sums.
    for start in tl.static_range(0, WIDTH, BLOCK_COLUMNS):
        column = tl.load(columns + component * WIDTH + start + place).to(tl.int64)
        size += tl.sum(tl.load(table + column[:, None] * stride + rows[None, :]).to(tl.float32), 0)
    for member in range(MEMBERS):
        first = (component * MEMBERS + member) * LINES
        squares = tl.zeros((LINES, BLOCK_ROWS), tl.float32)
        for start in tl.static_range(0, WIDTH, BLOCK_COLUMNS):
            column = tl.load(columns + component * WIDTH + start + place).to(tl.int64)
            x = tl.load(table + column[:, None] * stride + rows[None, :])
            r = tl.load(
                references + (first + line[:, None]).to(tl.int64) * WIDTH + start + place[None, :]
            )
            squares = tl.dot(r, x, squares)
        nearest = tl.minimum(nearest, squares + tl.load(norms + first + line)[:, None])
    distances = nearest + size[None, :]
    if ROOT:
        distances = tl.sqrt(distances)
    total = tl.sum(tl.where(line[:, None] < SUBSETS, distances, 0.0), 0)
    tl.store(out + component.to(tl.int64) * out_stride + rows, total)
