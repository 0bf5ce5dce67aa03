"""The engine on PyTorch, for a GPU: only this package imports torch.

:mod:`~odefs.engines.torch.engine` is the engine, :mod:`~odefs.engines.torch.training` trains all components in one batch (``alternation``, ``solver``,
``pacing``, ``losses``, ``choices``), :mod:`~odefs.engines.torch.scoring` scores blocks of rows (``fused`` where Triton is there).
"""
