"""Accuracy of ``ODEFS()`` and the contribution of its parts: jobs, measures and sections of
``docs/explanation/accuracy.md``.
"""
