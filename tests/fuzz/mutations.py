"""Mutations of any bytes: bits, cuts, pieces repeated, removed, or taken from another file.

All randomness comes from the given generator.
"""

import random
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, bytes, bytes], bytes]
"""From a generator, a file and another file to a new file."""


def piece(rng: random.Random, content: bytes, longest: int = 200) -> slice:
    """A random piece, mostly a short one."""
    start = rng.randrange(len(content) + 1)
    return slice(
        start, min(len(content), start + rng.choice((1, 2, 4, 8, rng.randrange(1, longest + 1))))
    )


def flip_bits(rng: random.Random, content: bytes, other: bytes) -> bytes:
    out = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8, 32))):
        if out:
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def set_bytes(rng: random.Random, content: bytes, other: bytes) -> bytes:
    out = bytearray(content)
    for _ in range(rng.choice((1, 2, 8))):
        if out:
            out[rng.randrange(len(out))] = rng.choice(
                (0, 9, 10, 13, 34, 44, 127, 128, 255, rng.randrange(256))
            )
    return bytes(out)


def cut_off(rng: random.Random, content: bytes, other: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] if rng.random() < 0.8 else content[place:]


def remove_piece(rng: random.Random, content: bytes, other: bytes) -> bytes:
    gone = piece(rng, content)
    return content[: gone.start] + content[gone.stop :]


def repeat_piece(rng: random.Random, content: bytes, other: bytes) -> bytes:
    again = piece(rng, content)
    times = rng.choice((1, 2, 10, 100))
    return content[: again.stop] + content[again] * times + content[again.stop :]


def move_piece(rng: random.Random, content: bytes, other: bytes) -> bytes:
    moved = piece(rng, content)
    rest = content[: moved.start] + content[moved.stop :]
    place = rng.randrange(len(rest) + 1)
    return rest[:place] + content[moved] + rest[place:]


def splice(rng: random.Random, content: bytes, other: bytes) -> bytes:
    if rng.random() < 0.5:
        return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other) + 1) :]
    place, taken = rng.randrange(len(content) + 1), other[piece(rng, other)]
    return content[:place] + taken + content[place:]


def add_noise(rng: random.Random, content: bytes, other: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.randbytes(rng.choice((1, 4, 64, 1000))) + content[place:]


ANY: Sequence[Mutation] = (
    flip_bits,
    set_bytes,
    cut_off,
    remove_piece,
    repeat_piece,
    move_piece,
    splice,
    add_noise,
)


def apply_some(
    rng: random.Random, content: bytes, other: bytes, mutations: Sequence[Mutation]
) -> bytes:
    """One to a few of the mutations, one after the other."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(mutations)(rng, content, other)
    return content
