"""From mixed columns to numbers, learned once and applied to every batch."""
