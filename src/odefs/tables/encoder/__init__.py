"""Table encoder: converts mixed columns to numbers, as learned from the training table."""
