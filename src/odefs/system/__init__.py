"""Threads, memory, temporary files and atomic writes: what odefs asks of the operating system."""
