"""Write the seeds of the corpus that are not findings: ``python tests/fuzz/corpus/write.py``.

Findings are added by hand and kept for good.
"""

import gzip
import random
import warnings
import zlib
from pathlib import Path

import polars as pl

from odefs import ODEFS, FeatureSelection, ODEFSWarning, TableEncoder
from odefs.baselines import CINFO, RandFS
from odefs.detection import detect

FOLDER = Path(__file__).parent
N_ROWS = 24


def table() -> pl.DataFrame:
    """A column of every kind, blanks, and one row that stands out."""
    rng = random.Random(0)
    shops = ["Aix", "Bonn", "Köln, Süd", "Lyon"]
    return pl.DataFrame(
        {
            "order": [f"T{i:03d}" for i in range(N_ROWS)],
            "amount": [round(rng.gauss(50, 9), 2) for _ in range(N_ROWS - 1)] + [990.5],
            "items": [rng.randrange(1, 9) for _ in range(N_ROWS)],
            "shop": [rng.choice(shops) if i % 9 else None for i in range(N_ROWS)],
            "when": [
                f"2024-{1 + i % 12:02d}-{1 + i:02d} {i % 24:02d}:30:00" for i in range(N_ROWS)
            ],
            "paid": [rng.choice(["yes", "no"]) for _ in range(N_ROWS)],
            "zip": [f"0{rng.randrange(10, 14)}" for _ in range(N_ROWS)],
            "rate": [f"{rng.randrange(1, 99)},{rng.randrange(10)} %" for _ in range(N_ROWS)],
            "flag": [rng.random() < 0.3 for _ in range(N_ROWS)],
        }
    )


def texts() -> dict[str, bytes]:
    """Text files as people have them, and as they should not have them."""
    plain = table().write_csv()
    rows = plain.splitlines(keepends=True)
    narrow = table().select("amount", "items", "shop").write_csv()
    european = table().select("shop", "rate", "paid").write_csv(separator=";")
    numbers = "a,b,c\n" + "".join(f"{i % 5},{i * 0.37:.2f},{(i * i) % 7}\n" for i in range(20))
    return {
        "plain": plain.encode(),
        "numbers": numbers.encode(),
        "quoted": table().write_csv(quote_style="always").encode(),
        "quoted-breaks": b'a,b\n"x\ny",1\n"say ""no""",2\n"",3\n"x, y",4\n',
        "byte-order-mark": b"\xef\xbb\xbf" + narrow.encode(),
        "semicolons": european.encode(),
        "tabs": table().write_csv(separator="\t").encode(),
        "pipes": numbers.replace(",", "|").encode(),
        "utf-16": narrow.encode("utf-16"),
        "utf-16-without-mark": narrow.encode("utf-16-le"),
        "cp1252": european.encode("cp1252"),
        "mixed-encodings": narrow.encode() + "1.5,2,Köln\n".encode("latin-1"),
        "carriage-returns": narrow.replace("\n", "\r\n").encode(),
        "old-mac": narrow.replace("\n", "\r").encode(),
        "zero-bytes": narrow.encode().replace(b"5", b"\x00"),
        "ragged": "".join(
            row if i % 5 else row.rsplit(",", 3)[0] + "\n" for i, row in enumerate(rows)
        ).encode(),
        "too-long-row": (narrow + "1,2,3,4,5\n").encode(),
        "long-field": b"a,b\n" + b"x" * 9000 + b",1\ny,2\nz,3\n",
        "empty": b"",
        "blank-lines": b"\n \n\n",
        "header-only": b"a,b,c\n",
        "one-row": b"a,b\n1,2\n",
        "one-column": b"a\n" + b"".join(b"%d\n" % (i * i) for i in range(12)),
        "no-header": "".join(rows[1:]).encode(),
        "same-names": b"a,a,a\n1,2,3\n4,5,6\n7,8,1\n",
        "blank-names": b",,\n1,2,3\n4,5,6\n7,8,1\n",
        "open-quote": b'a,b\n1,"x\n2,y\n3,z\n',
        "quote-inside": b'a,b\n1,5" disk\n2,y\n3,z\n',
        "extremes": (
            b"a,b,c\n1e308,-1e308,1e-320\n-1e308,1e308,0\n"
            b"inf,nan,-0\n1e309,9223372036854775808,007\n5,6,7\n"
        ),
        "dates": (
            b"d,t,n\n01.02.2024,12:30,1\n31/12/1999,23:59,2\n"
            b"2024-02-29,00:00,4\n2024-02-30,24:00,2\n1/1/01,7:07,2\n"
        ),
        "all-blank": b"a,b\n,\n,\n,\n",
        "one-value": b"a,b\n1,x\n1,x\n1,x\n",
        "formulas": b"=a,+b\n=1+1,@x\n-1,=2\n=3,+4\n",
        "many-columns": b",".join(b"c%d" % i for i in range(300))
        + b"\n"
        + (b",".join([b"1", b"2"] * 150) + b"\n") * 4,
        "packed": gzip.compress(plain.encode(), mtime=0),
        "packed-cut-off": gzip.compress(plain.encode(), mtime=0)[:-9],
        "not-text": bytes(range(256)) * 2,
        **former_findings(plain.encode()),
    }


def former_findings(plain: bytes) -> dict[str, bytes]:
    """Tables that once gave a traceback, took seconds or filled the memory, made small."""
    damaged = bytearray(gzip.compress(plain, mtime=0))
    damaged[200:210] = b"\xff" * 10
    wide = b",".join(b"c%d" % i for i in range(400)) + b"\n"
    return {
        "finding-damaged-packing": bytes(damaged),
        "finding-packed-twice": gzip.compress(gzip.compress(plain, mtime=0), mtime=0),
        "finding-packed-otherwise": zlib.compress(plain),
        "finding-packed-too-well": gzip.compress(b"a,b\n1,2\n" + b"0,1\n" * 10_000_000, mtime=0),
        "finding-blank-lines-under-a-wide-header": wide + b"\n" * 30_000,
        "finding-wide-text": wide
        + (b",".join([b"x", b"y"] * 200) + b"\n") * 3
        + (b",x" * 399 + b"\n") * 3,
        "finding-long-number": b"a,b\n1,x\n" + b"9" * 3000 + b",y\n2,z\n",
        "finding-infinite-text": b"a,b\n"
        + b"".join(
            b"%d,%s\n" % (i % 7, b"1e999" if i == 5 else b"$ %d" % (i % 5)) for i in range(20)
        ),
        "finding-many-spaces": b"a,b\n"
        + b"".join(b"-%d%sx,%d\n" % (i % 4, b" " * 1500, i % 3) for i in range(8)),
        "finding-line-that-never-ends": b"a,b\r1,2\r" + b"a," * 21_000,
        "finding-largest-floats": b"x,y\n"
        + b"1.7e308,1\n-1.7e308,3\n1.7e308,2\n1.7e308,4\n0,3\n" * 4,
        "finding-infinite-range": b"a,b\n" + b"1e308,1\n-1e308,2\n5,3\n1e308,1\n-1e308,2\n" * 3,
    }


def write_models() -> None:
    few = FeatureSelection(n_outlier_examples=8)
    small = {
        "n_estimators": 2,
        "selection": few,
        "n_subsets": 4,
        "subset_size": 4,
        "random_state": 0,
    }
    frame = table()
    found = detect(frame, id="order", model=ODEFS(scaling="none", **small), hide=["shop"])
    found.save(FOLDER / "models" / "table.odefs")
    encoder = TableEncoder(mark_missing=True, max_categories=3, number=["zip"], na=["Aix"])
    found = detect(frame.drop("order"), encoder=encoder, model=ODEFS(detector="tails", **small))
    found.save(FOLDER / "models" / "table-marked.odefs")
    X = frame.select("amount", "items", "flag").cast(pl.Float64).to_numpy()
    for model in (RandFS(random_state=0, n_subsets=4, subset_size=4), CINFO(random_state=0)):
        model.fit(X).save(FOLDER / "models" / f"{type(model).__name__.lower()}.odefs")


def main() -> None:
    warnings.simplefilter("ignore", ODEFSWarning)
    for kind in ("csv", "models"):
        (FOLDER / kind).mkdir(exist_ok=True)
    for name, content in texts().items():
        (FOLDER / "csv" / f"{name}.csv").write_bytes(content)
    write_models()


if __name__ == "__main__":
    main()
