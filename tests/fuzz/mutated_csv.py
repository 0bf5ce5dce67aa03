"""Mutations of delimited text: bytes, cells, rows, columns, delimiters, quotes, encodings."""

import gzip
import random
import re
import zlib

from .mutations import ANY, Mutation, apply_some

CELLS = (
    *(
        "",
        " ",
        "NA",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "null",
        "-",
        "?",
        "0",
        "-0",
        "007",
        "1e308",
        "-1e308",
    ),
    *(
        "1e309",
        "1e-320",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "9" * 400,
        "1e999999",
    ),
    *(
        "0x1F",
        "1_000",
        "1,5",
        "1.234,56",
        "1'000",
        "12 %",
        "(5)",
        "$ 3",
        "€",
        "+-3",
        "1.",
        ".5",
        "١٢٣",
        "²",
        "½",
    ),
    *(
        "2024-02-30",
        "2024-01-01",
        "0000-00-00",
        "9999-12-31",
        "0001-01-01",
        "2024-01-01T25:61:61",
        "31.12.99",
    ),
    *(
        "2024-01-01T00:00:00+99:99",
        "1/1/1",
        "24:00",
        "23:59:60",
        "12:00",
        "true",
        "FALSE",
        "yes",
        "y",
        "t",
        "no",
    ),
    *(
        '"',
        '""',
        '"""',
        '"a',
        'a"b',
        "'",
        "\\",
        "\\n",
        "\x00",
        "\x1b[31m",
        "\ufeff",
        "\u2028",
        "\x85",
        "\x0c",
        "\x1e",
    ),
    *(
        "=1+1",
        "@x",
        "é",
        "日本",
        "\U0001f600",
        "e\u0301",
        "a\rb",
        '"a\nb"',
        '"a\r\nb"',
        "#",
        "# comment",
        "x" * 300,
    ),
)
ENCODINGS = (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-8-sig",
    "cp1252",
    "latin-1",
    "cp037",
    "utf-7",
)
DELIMITERS = (b",", b";", b"\t", b"|", b" ", b":", b"\x1f", b"||")
BREAKS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b", b"\xe2\x80\xa8")


def _delimiter(content: bytes) -> bytes:
    return max((b",", b";", b"\t", b"|"), key=content.count)


def _cells(rng: random.Random, content: bytes, change: str | None = None) -> bytes:
    """Some cells replaced."""
    spans = [found.span() for found in re.finditer(rb'[^,;\t|\r\n"]+', content)]
    for start, stop in sorted(
        rng.sample(spans, min(len(spans), rng.choice((1, 1, 3, 30)))), reverse=True
    ):
        new = rng.choice(CELLS) if change is None else change
        content = content[:start] + new.encode("utf-8", "replace") + content[stop:]
    return content


def replace_cells(rng: random.Random, content: bytes, other: bytes) -> bytes:
    return _cells(rng, content)


def fill_with_one(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """One extreme in many cells, so that whole columns are of it."""
    change = rng.choice(CELLS)
    for _ in range(rng.choice((1, 10))):
        content = _cells(rng, content, change)
    return content


def fill_column(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """A column of one or two extremes."""
    mark, values = _delimiter(content), rng.sample(CELLS, 2)
    rows = [row.split(mark) for row in content.split(b"\n")]
    place = rng.randrange(max(1, len(rows[0])))
    for row in rows[1:]:
        if len(row) > place:
            row[place] = rng.choice(values).encode("utf-8", "replace")
    return b"\n".join(mark.join(row) for row in rows)


def other_delimiter(rng: random.Random, content: bytes, other: bytes) -> bytes:
    old, new = _delimiter(content), rng.choice(DELIMITERS)
    return (
        content.replace(old, new)
        if rng.random() < 0.7
        else content.replace(old, new, rng.randrange(20))
    )


def other_breaks(rng: random.Random, content: bytes, other: bytes) -> bytes:
    new = rng.choice(BREAKS)
    return (
        content.replace(b"\n", new)
        if rng.random() < 0.7
        else content.replace(b"\n", new, rng.randrange(20))
    )


def quote_cells(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Quotes put around, before or behind cells."""
    spans = [found.span() for found in re.finditer(rb"[^,;\t|\r\n]+", content)]
    before, behind = rng.choice(
        ((b'"', b'"'), (b'"', b'"'), (b'"', b""), (b"", b'"'), (b'""', b'"'), (b"'", b"'"))
    )
    for start, stop in sorted(
        rng.sample(spans, min(len(spans), rng.choice((1, 1, 3, 300)))), reverse=True
    ):
        content = content[:start] + before + content[start:stop] + behind + content[stop:]
    return content


def other_encoding(rng: random.Random, content: bytes, other: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(ENCODINGS), "replace")


def put_mark(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """A byte order mark, right or wrong, or the beginning of another kind of file."""
    marks = (
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xff\xfe\x00\x00",
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"PAR1",
        b"{",
    )
    return rng.choice(marks) + content


def long_cell(rng: random.Random, content: bytes, other: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    repeated = rng.choice(
        (b"x", b"9", b"0", b" ", b'""', b"a,", b"\n", b"\xc3\xa9", b".", b"-", b"1.")
    )
    return content[:place] + repeated * rng.choice((1000, 40_000, 200_000)) + content[place:]


def many_columns(rng: random.Random, content: bytes, other: bytes) -> bytes:
    mark, times = _delimiter(content), rng.choice((10, 100, 1000))
    rows = content.split(b"\n")[: rng.choice((3, 10, 100))]
    cell = rng.choice((b"", b"1", b"x"))
    named = rng.random() < 0.7
    header = mark.join([rows[0], *((b"c%d" % i if named else cell) for i in range(times))])
    return b"\n".join([header, *(row + (mark + cell) * times for row in rows[1:])])


def many_rows(rng: random.Random, content: bytes, other: bytes) -> bytes:
    rows = content.split(b"\n")
    return b"\n".join([rows[0], *(rows[1:] * rng.choice((2, 10, 50)))])


def ragged(rng: random.Random, content: bytes, other: bytes) -> bytes:
    mark = _delimiter(content)
    rows = [row.split(mark) for row in content.split(b"\n")]
    for _ in range(rng.choice((1, 3, 30))):
        row = rng.choice(rows)
        row[:] = (
            row[: rng.randrange(len(row) + 1)]
            if rng.random() < 0.6
            else row + row[: rng.randrange(1, 4)]
        )
    return b"\n".join(mark.join(row) for row in rows)


def other_header(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Names that are equal, blank, numbers or extremes; or no header at all."""
    mark = _delimiter(content)
    header, _, rest = content.partition(b"\n")
    names = header.split(mark)
    for place in rng.sample(range(len(names)), rng.randrange(1, len(names) + 1)):
        names[place] = rng.choice(
            (b"", names[0], b"_duplicated_0", b"1", rng.choice(CELLS).encode("utf-8", "replace"))
        )
    return rest if rng.random() < 0.1 else mark.join(names) + b"\n" + rest


def packed(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Compressed with gzip, perhaps damaged, twice, with a tail, extremely, or otherwise."""
    out = gzip.compress(content, mtime=0)
    match rng.randrange(10):
        case 0:
            return apply_some(rng, out, other, ANY)
        case 1:
            return gzip.compress(out, mtime=0)
        case 2:
            return out + rng.choice((out, other, bytes(10)))
        case 3:
            # Small on the disk, large in memory.
            return gzip.compress(
                content + rng.choice((b"0,", b"\n", b"1\n", b"x")) * 40_000_000, 1, mtime=0
            )
        case 4:
            return zlib.compress(content)
        case _:
            return out


CSV: tuple[Mutation, ...] = (
    *ANY,
    *(replace_cells,) * 3,
    *(fill_column,) * 3,
    *(fill_with_one, other_delimiter, other_breaks, quote_cells, other_encoding, put_mark),
    *(long_cell, many_columns, many_rows, ragged, other_header, packed),
)


def mutated_csv(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """A few mutations of a text file."""
    return apply_some(rng, content, other, CSV)
