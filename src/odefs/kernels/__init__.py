"""Array kernels: all code that touches many rows, independent of the method.

Row blocks
----------
Rows are processed in blocks. A block is small enough that it and the distances from its rows to the
references stay in a core's second-level cache; :mod:`odefs.kernels.chunking` derives its height
from a byte budget. One block is one task of a thread, and inside a task BLAS runs on one thread
(:mod:`odefs.system.threads`), so the number of threads never changes the shape of a matrix product,
and therefore never changes a bit of the result.

BLAS kernels treat some rows of a matrix differently from others, depending on the library, the
processor and the number of rows. Products are therefore computed in slabs of one fixed shape, in
which every position gives the same bits (:mod:`odefs.kernels.stable_products`): the score of a row
depends neither on its neighbours nor on its position in the batch.

Nearest references
------------------
:mod:`odefs.kernels.distances` expands ``|x - r|^2 = |x|^2 - 2 x.r + |r|^2``: one matrix product per
block, with references along the rows of the result and the members of a subset far apart, so that
the minimum over a subset takes a few ``minimum`` calls over long contiguous halves. The expansion
loses digits where a distance is small compared with the norms; those few distances are recomputed
directly. Missing values are handled by :mod:`odefs.kernels.distances_with_missing`.

:mod:`odefs.kernels.compiled`, if it was built, does all of this, including missing values, in one
compiled pass without a matrix of distances.
"""
