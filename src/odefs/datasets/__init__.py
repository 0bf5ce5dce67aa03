"""Example and benchmark datasets."""
