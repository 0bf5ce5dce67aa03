"""Sections of ``docs/explanation/results.md``, assembled by
:mod:`odefs.experiments.results_page`.
"""
