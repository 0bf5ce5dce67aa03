"""Files that nobody would write: mutated and fuzzed models and tables, and what must come of them.

``targets`` says what must come of a file, ``mutate`` tries thousands of mutated ones (``python -m tests.fuzz.mutate models 10000``), ``guided`` lets atheris look for paths
that nothing has taken yet (``python -m tests.fuzz.guided models``), and ``corpus`` holds the files that all of them begin with, former findings among them.
"""
