"""Values to check: cells and rows that are probably wrong, listed before the ranking.

Statistics of all rows are gathered in one pass (:mod:`~odefs.tables.checks.gather`). Each family of
checks turns them into suspects: cells described by their values. A second pass over the columns
that have suspects finds their rows. Scores and ranks do not depend on any of this.
"""

from odefs.tables.checks.find import find_checks
from odefs.tables.records.checks import ValueCheck

__all__ = ["ValueCheck", "find_checks"]
