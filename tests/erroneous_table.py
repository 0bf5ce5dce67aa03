"""A table with planted errors of every kind that values to check can have."""

from datetime import date, timedelta

import numpy as np
import polars as pl

COUNTRIES = ["Philippines", "France", "Germany", "Peru", "Chile"]


def planted(n=1200):
    """A table with every kind of error, and where each is: kind and column to row numbers."""
    rng = np.random.default_rng(0)
    cells = {
        "key": [f"k{i}" for i in range(n)],
        "length": rng.normal(50, 5, n).round(2),
        "weight": rng.normal(80, 8, n).round(2),
        "income": rng.lognormal(8, 0.5, n).round(1),
        "height": rng.normal(5, 1, n).round(2),
        "latitude": rng.uniform(-60, 60, n).round(3),
        "day": [date(2015, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 1800, n)],
        "country": rng.choice(COUNTRIES, n).tolist(),
        "colour": rng.choice(["red", "green", "blue"], n).tolist(),
        "size": [str(k) for k in rng.integers(10, 99, n)],
        "region": rng.choice(["north", "south", "west"], n).tolist(),
    }
    errors = {
        ("zero", "length"): {10: 0.0, 500: 0.0},
        ("negative", "weight"): {20: -12.0},
        ("code", "income"): {30: -999.0, 31: -999.0, 900: -999.0},
        ("future_date", "day"): {40: date(2093, 1, 1)},
        ("early_date", "day"): {41: date(1815, 6, 18)},
        ("extreme_value", "height"): {50: 58.9},
        ("spelling", "country"): {60: "Phlippines"},
        ("case_or_spaces", "country"): {61: "france "},
        ("number_in_text", "colour"): {70: "17"},
        ("text_in_numbers", "size"): {80: "12a", 81: "n/a?"},
        ("total_row", "region"): {n - 1: "Total"},
        ("impossible_value", "latitude"): {100: 123.4},
    }
    for (_, column), values in errors.items():
        for row, value in values.items():
            cells[column][row] = value
    for column in cells:
        cells[column][90] = cells[column][89]
    rows = {place: list(values) for place, values in errors.items()}
    return pl.DataFrame(cells), rows | {("copied_row", None): [90]}
