"""Where the sweeps over the rows run. :mod:`~odefs.ensemble.fit` says what is swept, an engine says how."""
