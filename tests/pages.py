"""Pages as texts and elements, and a mixed table, for the tests of the report."""

from html.parser import HTMLParser

import numpy as np
import polars as pl

EVIL = "<script>alert(1)</script>"


class Texts(HTMLParser):
    """Texts and elements of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.scripts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        (
            self.scripts
            if self.elements and self.elements[-1][0] in ("script", "style")
            else self.texts
        ).append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def mixed_frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = {
        "amount": rng.lognormal(3, 0.3, n),
        "shop": rng.choice(["north", "south", "west"], n),
        "noise": rng.normal(size=n),
        "open": rng.random(n) < 0.5,
        "day": np.datetime64("2024-03-01") + rng.integers(0, 200, n),
    }
    frame["amount"][:8] *= 40
    frame["shop"][8:14] = "moon"
    return pl.DataFrame(frame)
