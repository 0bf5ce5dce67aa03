"""Files that nobody would write: mutated and fuzzed models and tables, and what must come of them.

``targets`` defines the allowed outcomes for a file, ``mutate`` tries thousands of mutated files
(``python -m tests.fuzz.mutate models 10000``), ``guided`` lets atheris search for new paths
(``python -m tests.fuzz.guided models``), and ``corpus`` contains the initial files, including
former findings.
"""
