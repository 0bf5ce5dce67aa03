"""Scoring of tables that arrive in parts: Arrow batches, and folders of parquet files."""
