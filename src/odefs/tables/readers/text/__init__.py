"""Delimited text: its dialect, the table among its lines, and types that lose no cell."""
