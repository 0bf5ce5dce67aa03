"""Data frames and arrays as columns: numbers, booleans, times and categories."""
