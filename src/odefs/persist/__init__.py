"""Model files: one file of a JSON header and raw arrays, written whole or not at all, read without
executing or trusting anything.
"""
