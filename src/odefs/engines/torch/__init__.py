"""The PyTorch engine for GPUs; only this package imports torch.

:mod:`~odefs.engines.torch.engine` is the engine, :mod:`~odefs.engines.torch.training` trains all
components in one batch (``alternation``, ``objective``, ``pacing``, ``nearest_members``),
:mod:`~odefs.engines.torch.scoring` scores blocks of rows (``triton_launch`` where Triton is
installed).
"""
