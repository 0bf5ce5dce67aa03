"""Size and structure of the code, not timed: ``python -m benchmarks.architecture`` prints them."""
