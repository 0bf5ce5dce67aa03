"""Recorded runs of the command line and the Python interface for fixed inputs.

``python -m tests.frozen record`` writes ``record.jsonl``, and ``python -m tests.frozen compare``
runs everything again and prints each difference, to check a redesign. Only the command and public
names are used, since everything inside the package may move.
"""
