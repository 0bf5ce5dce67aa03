"""Explanations of scores: contributions of columns, reasons and importances of a frozen model."""
