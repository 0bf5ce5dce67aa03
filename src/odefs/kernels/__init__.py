"""Array kernels: everything that touches many rows, and nothing that knows the method.

How rows are cut
----------------
A sweep walks over the rows in blocks. A block is small enough that it, and the distances from its rows to the references,
stay in a core's second-level cache; :mod:`odefs.kernels.chunking` derives the block's height from a byte budget. One block is one task of a
thread, and inside a task BLAS runs on one thread (:mod:`odefs.system.threads`), so the number of threads never changes the shape of a matrix
product and therefore never changes a bit of the result.

BLAS kernels treat some rows of a matrix differently from others, and which ones depends on the library, the processor and the
number of rows. Products are therefore done in slabs of one shape, in which every place is known to give the same bits
(:mod:`odefs.kernels.stable_products`): the score of a row depends neither on its neighbours nor on its place in the batch.

How nearest references are found
--------------------------------
:mod:`odefs.kernels.distances` expands ``|x - r|^2 = |x|^2 - 2 x.r + |r|^2``: one matrix product per block, references along the rows
of the result and the members of a subset far apart, so that the minimum over a subset is a handful of ``minimum`` calls over long
contiguous halves. The expansion loses digits where a distance is small against the norms; those few distances are computed again
directly. Missing values go through :mod:`odefs.kernels.distances_with_missing`.

:mod:`odefs.kernels.compiled` does all of this, missing values included, in one compiled pass without a matrix of distances, where it was built.
"""
