"""Recorded runs: what the command line and the Python interface give for fixed inputs, so that a redesign can be checked against it.

``python -m tests.frozen record`` writes ``record.jsonl``, ``python -m tests.frozen compare`` runs everything again and prints each difference.
Only the command and public names are used, as everything inside the package may move.
"""
