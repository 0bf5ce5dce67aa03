"""Readers, one per file format, and limits on what an untrusted file may make them allocate."""
