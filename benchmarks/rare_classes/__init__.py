"""Rare classes of real tables as outliers: ``odefs.detect`` and other detectors on many tables."""
