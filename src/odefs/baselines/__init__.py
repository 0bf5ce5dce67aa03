"""The paper's competitors: other ways to choose columns for the same detector.

They share the ensemble and scoring code of ``ODEFS``.
"""

from odefs.baselines.cinfo import CINFO
from odefs.baselines.disfs import DisFS
from odefs.baselines.randfs import RandFS
from odefs.baselines.regfs import RegFS

__all__ = ["CINFO", "DisFS", "RandFS", "RegFS"]
