"""A review of the ranking, row by row, that learns from every answer."""

from odefs.review.review import Review as Review

__all__ = ["Review"]
