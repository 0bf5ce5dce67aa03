"""Answers of a review: their csv file, and a detection that has learned from them."""
