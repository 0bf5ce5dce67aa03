"""The engine for a cluster: Dask's workers make the passes, each over its own partitions. Only this package imports Dask.

:mod:`~odefs.engines.dask.engine` is the engine, :mod:`~odefs.engines.dask.tasks` is what workers do with a partition, :mod:`~odefs.engines.dask.partitions`
turns tables into partitions, :mod:`~odefs.engines.dask.client` finds or starts workers.
"""

from importlib import import_module

from odefs._extras import needed_by

with needed_by("engine='dask'", "dask"):
    # Its modules import them where they are used; whoever lacks them is told before any work.
    import_module("distributed")

from odefs.engines.dask.client import local_client
from odefs.engines.dask.engine import DaskEngine

__all__ = ["DaskEngine", "local_client"]
