"""The Dask engine for clusters: workers make the passes, each over its own partitions.

:mod:`~odefs.engines.dask.engine` is the engine, :mod:`~odefs.engines.dask.tasks` has the tasks for
a partition, :mod:`~odefs.engines.dask.partitions` divides tables into partitions,
:mod:`~odefs.engines.dask.client` finds or starts workers. Only this package imports Dask.
"""

from importlib import import_module

from odefs._extras import require_extra

with require_extra("engine='dask'", "dask"):
    # The modules import distributed where they use it. Importing it here reports a missing package
    # before any work.
    import_module("distributed")

from odefs.engines.dask.client import local_client
from odefs.engines.dask.engine import DaskEngine

__all__ = ["DaskEngine", "local_client"]
