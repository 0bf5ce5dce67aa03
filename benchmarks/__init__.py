"""Speed as ratios within one run; ``make bench`` prints them. One file per question, each with a ``run()`` that returns results."""
