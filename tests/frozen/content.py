"""Content of the input tables as plain lists, the same on every machine.

Numbers, categories, dates, missing cells and an id.
"""

from datetime import datetime, timedelta

import numpy as np

START = datetime(2024, 1, 1, 8, 0)
SHOPS = ["Köln", "Málaga", "Paris", "Oslo", "Århus"]
RARE = ["Ürümqi", "Napoli", "Łódź"]


def mixed(n_rows=180, seed=0, drifted=False):
    """A table of mixed columns, as lists with ``None`` for missing; one row in 30 is unusual."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, len(SHOPS), n_rows)
    quantity = rng.integers(1, 9, n_rows)
    price = np.round(20 + 6 * shop + rng.normal(0, 2, n_rows), 2)
    weight = np.round(0.4 * quantity + rng.normal(0, 0.05, n_rows), 3)
    hours = rng.integers(0, 200 * 24, n_rows)
    paid = rng.random(n_rows) < 0.8
    noise = np.round(rng.random(n_rows), 4)
    odd = np.sort(rng.choice(n_rows, max(2, n_rows // 30), replace=False))
    price[odd[::2]] = np.round(price[odd[::2]] * 9, 2)
    weight[odd[1::2]] = np.round(weight[odd[1::2]] + 30, 3)
    moments = [START + timedelta(hours=int(hour)) for hour in hours]
    shops = [SHOPS[k] for k in shop]
    if drifted:
        price = np.round(price * 1.8, 2)
        shops = ["Lima" if k % 7 == 0 else name for k, name in enumerate(shops)]
    table = {
        "id": [5000 + 3 * k for k in range(n_rows)],
        "shop": shops,
        "quantity": quantity.tolist(),
        "price": price.tolist(),
        "weight": weight.tolist(),
        "day": [moment.date() for moment in moments],
        "at": moments,
        "paid": paid.tolist(),
        "noise": noise.tolist(),
    }
    for name, step in {"shop": 41, "price": 37, "weight": 29, "day": 53}.items():
        table[name] = [
            None if k % step == step - 2 else value for k, value in enumerate(table[name])
        ]
    return table


def is_odd(table):
    """1 for rows with an extreme price or weight, for columns of labels and known cases."""
    pairs = zip(table["price"], table["weight"], strict=True)
    return [int((price or 0) > 110 or (weight or 0) > 15) for price, weight in pairs]


def with_label(table):
    return table | {"fraud": is_odd(table)}


def with_known(table):
    """Half of the odd rows and some ordinary ones are known, the others are not."""
    odd, seen, known = is_odd(table), 0, []
    for k, flag in enumerate(odd):
        seen += flag
        known.append(1 if flag and seen % 2 else 0 if not flag and k % 10 == 0 else None)
    return table | {"known": known}


def with_codes(table):
    """Codes with leading zeros, numeric categories, a code for missing, numbers as text."""
    n_rows = len(table["id"])
    return table | {
        "zip": [f"{(k * 37) % 23:05d}" for k in range(n_rows)],
        "region": [1 + (k * k) % 4 for k in range(n_rows)],
        "age": [999 if k % 19 == 5 else 20 + (k * 13) % 50 for k in range(n_rows)],
        "fee": [f"$ {1 + (k * 7) % 30}.{k % 10}0" for k in range(n_rows)],
        "constant": ["x"] * n_rows,
        "mostly empty": [k if k % 5 == 0 else None for k in range(n_rows)],
        "comment": [f"note {k * 7919 % 1000} of {k}" for k in range(n_rows)],
    }


def with_formulas(table):
    """Text that a spreadsheet would run."""
    words = ["=1+1", "+x", "-y", "@z", "plain", "'=q"]
    return table | {"text": [words[k % 6] for k in range(len(table["id"]))]}


def matrix(n_rows=400, n_columns=12, seed=1, dtype=float, missing=0.0):
    """Numbers for the estimators: 14 rows differ in three columns, the last column is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) @ (np.eye(n_columns) + 0.3)
    X[:14, :3] += 7
    X[:, -1] = rng.random(n_rows)
    X = X.astype(dtype)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X
