"""Real files of packages in the Python registry, run through ``odefs detect`` as a user would.

``files.toml`` lists packages with versions and hashes, and which of their files are used.
``fetch`` downloads and unpacks them, ``run`` starts the command line on one file, ``rules`` decides
what is wrong with the outcome, and ``page`` writes ``docs/explanation/wild-files.md``.
"""
