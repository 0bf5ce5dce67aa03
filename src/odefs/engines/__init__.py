"""Engines: sweeps over the rows in memory, in blocks, on a cluster or on a GPU.

:mod:`~odefs.ensemble.fit` defines what is computed, an engine where and how.
"""
