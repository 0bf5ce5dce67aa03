"""Size and shape of the code, not timed: ``python -m benchmarks.architecture`` prints the numbers."""
