"""Where the sweeps over the rows run. :mod:`~odefs.engines.sweeps` says what is swept, an engine says how."""
