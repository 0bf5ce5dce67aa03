"""What a model learns from a person's answers to "is this row an outlier?"."""
