"""The sections of ``docs/results.md``; :mod:`odefs.experiments.results_page` puts them together."""
