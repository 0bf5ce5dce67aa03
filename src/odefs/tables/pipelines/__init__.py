"""Pipelines of scikit-learn: contributions of their input columns to the scores."""
