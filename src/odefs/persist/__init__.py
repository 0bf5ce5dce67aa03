"""Model files: a JSON header and raw arrays in one file.

Files are written atomically, and read without executing or trusting anything in them.
"""
