"""Model files that also hold the encoder of a table, and those of pipelines."""
