"""Speed as ratios within one run, printed by ``make bench``.

One file per question, each with a ``run()`` that returns results.
"""
