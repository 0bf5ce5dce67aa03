"""The sections of ``docs/explanation/results.md``; :mod:`odefs.experiments.results_page` puts them
together.
"""
