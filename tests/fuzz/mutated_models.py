"""Mutations of model files: bytes, and header and arrays with a corrected checksum."""

import copy
import json
import random
import string
import struct
from typing import Any

from .model_bytes import assembled, places, repaired, take_apart
from .mutations import ANY, Mutation, apply_some

NUMBERS: tuple[Any, ...] = (
    *(
        0,
        1,
        -1,
        2,
        3,
        7,
        255,
        1000,
        2**15,
        2**31,
        2**32,
        2**53,
        2**62,
        2**63,
        2**64,
        10**30,
        -(2**63),
        10**400,
    ),
    *(0.0, -0.0, 0.5, 1.0, -1.0, 1e-320, 1e-45, 1e38, 1e300, 1.7e308, -1.7e308, 1e400),
)
OTHERS: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        "",
        "x",
        "\x00",
        "\ud800",
        "lesinn",
        "iforest",
        "tails",
        "ODEFS",
        "LeSiNN",
        "number",
        "time",
    ),
    *(
        "boolean",
        "category",
        "ISO dates",
        "numbers",
        "float32",
        "float64",
        "int64",
        "uint8",
        "bool",
        "float16",
    ),
    *(
        [],
        {},
        [0],
        [[]],
        {"$float": "nan"},
        {"$float": "inf"},
        {"is": "plain", "value": 1},
        "a" * 5000,
    ),
)


def damage(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Bytes that change on a disk or on the way; the checksum stays as it was."""
    return apply_some(rng, content, other, ANY)


def damage_and_repair(rng: random.Random, content: bytes, other: bytes) -> bytes:
    return repaired(apply_some(rng, content, other, ANY))


def edit_header(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Other values, missing, doubled and swapped ones, anywhere in the header."""
    header, data = take_apart(content)
    donor = take_apart(other)[0]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        found = [path for path in places(header) if path]
        if not found:
            break
        path = rng.choice(_aimed(rng, found))
        donated = rng.choice(list(places(donor)))
        _change(rng, header, path, _at(donor, donated))
    return assembled(_text(rng, header), data)


def edit_arrays(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Extreme numbers in the place of some cells, of whatever width."""
    header, data = take_apart(content)
    cells = bytearray(data)
    for _ in range(rng.choice((1, 2, 5))):
        form = rng.choice(["<f", "<d", "<e", "<i", "<q", "<b", "<Q"])
        value = rng.choice(NUMBERS if form[1] in "fde" else [n for n in NUMBERS if type(n) is int])
        try:
            packed = struct.pack(
                form, rng.choice((float("nan"), float("inf"), value)) if form[1] in "fde" else value
            )
        except (struct.error, OverflowError):
            packed = rng.randbytes(struct.calcsize(form))
        if len(cells) >= len(packed):
            place = rng.randrange(len(cells) // len(packed)) * len(packed)
            cells[place : place + len(packed)] = packed
    return assembled(header, bytes(cells))


def edit_shapes(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Arrays of another type, shape, order or name, or one more than there should be."""
    header, data = take_apart(content)
    entry = rng.choice(header["arrays"])
    match rng.randrange(5):
        case 0:
            entry["dtype"] = rng.choice(
                ("float32", "float64", "int8", "int64", "uint64", "bool", "float16", "object")
            )
        case 1:
            entry["shape"] = [
                rng.choice((0, 1, 2, 3, 8, 2**16, 2**31, 2**62)) for _ in range(rng.randrange(5))
            ]
        case 2:
            entry["shape"] = rng.sample(entry["shape"], len(entry["shape"]))
            entry["order"] = "F"
        case 3:
            entry["name"] = rng.choice(header["arrays"])["name"]
        case _:
            cells = rng.choice((0, 1, 1000, 100_000))
            named = rng.choice(("extra/x", "training/x", "components/9/w", "baseline"))
            header["arrays"].append({"name": named, "dtype": "int8", "shape": [cells]})
            data += bytes(-len(data) % 64) + bytes(cells)
    return assembled(header, data)


def edit_text(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Mutations of the header's text, which then is mostly no JSON any more."""
    header, data = take_apart(content)
    text = json.dumps(header).encode()
    return assembled(apply_some(rng, text, json.dumps(take_apart(other)[0]).encode(), ANY), data)


MODELS: tuple[Mutation, ...] = (
    damage,
    damage_and_repair,
    *(edit_header,) * 5,
    *(edit_arrays,) * 2,
    edit_shapes,
    edit_text,
)


def mutated_model(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """One mutation of a model file; files that are not valid models only change in their bytes."""
    try:
        return rng.choice(MODELS)(rng, content, other)
    except (ValueError, TypeError, LookupError, AttributeError, struct.error):
        return rng.choice((damage, damage_and_repair))(rng, content, other)


def _aimed(rng: random.Random, found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The list of arrays dominates the header; half of the time only other parts change."""
    others = [path for path in found if path[0] != "arrays"]
    return others if others and rng.random() < 0.7 else found


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _change(rng: random.Random, header: Any, path: tuple[Any, ...], donated: Any) -> None:
    at, key = _at(header, path[:-1]), path[-1]
    match rng.randrange(8):
        case 0:
            del at[key]
        case 1 if isinstance(at, list):
            at[key:key] = copy.deepcopy([at[key]] * rng.choice((1, 2, 1000)))
        case 1:
            at[rng.choice((*at, "new", f"{key}_"))] = at[key]
        case 2:
            at[key] = copy.deepcopy(donated)
        case 3 if type(at[key]) in (int, float):
            at[key] = at[key] + rng.choice((1, -1)) if abs(at[key]) < 1e300 else -at[key]
        case 4:
            at[key] = rng.choice(OTHERS)
        case 5:
            at[key] = "".join(rng.choices(string.printable, k=rng.randrange(12)))
        case 6 if isinstance(at[key], list):
            rng.shuffle(at[key])
        case _:
            at[key] = rng.choice(NUMBERS)


def _text(rng: random.Random, header: Any) -> bytes:
    return json.dumps(header, sort_keys=rng.random() < 0.5).encode()
