"""Parquet and Arrow files: limits on their memory, common types, and temporary parquet files."""
