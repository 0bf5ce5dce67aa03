"""Measurements of jobs that read a table itself: ``odefs.detect``, and counts of its values."""

import time

from odefs.experiments.accuracy.value_frequencies import BASELINES, matrix_codes, table_codes
from odefs.experiments.grid import Job, Record
from odefs.experiments.run import evaluate
from odefs.experiments.sources import Source, is_table, open_frame
from odefs.tables.frames import columns_of


def measure_detect(job: Job, source: Source, trust: float | None = None) -> Record:
    """Return how well ``odefs.detect`` ranks the rows of a data frame, with its own or given
    trust.
    """
    from odefs import ODEFS, detect

    frame, y = open_frame(job.dataset)
    model = None
    if trust is not None:
        # A given trust has one member on all columns, a measured one of 0 has 24.
        model = ODEFS(scaling="none", trust=trust, n_subsets=24 * 50, random_state=job.seed)
    start = time.perf_counter()
    scores = detect(frame, model=model, random_state=job.seed, n_jobs=1).scores
    seconds = time.perf_counter() - start
    # The width of the table, where the source has that of the encoded matrix.
    return {**evaluate(y, scores), "seconds": seconds, "n_columns": frame.shape[1]}


def measure_value_frequencies(job: Job, source: Source) -> Record:
    """Return how well counts of values rank the rows of a table or a matrix."""
    start = time.perf_counter()
    if is_table(job.dataset):
        codes = table_codes(columns_of(open_frame(job.dataset)[0]))
    else:
        codes = matrix_codes(source.X)
    scores = BASELINES[job.method](codes)
    seconds = time.perf_counter() - start
    return {**evaluate(source.y, scores), "seconds": seconds, "n_columns": len(codes)}
