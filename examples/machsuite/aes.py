"""AES-256 encryption of blocks, with the round keys made on the way."""

from __future__ import annotations

import functools

import numpy as np

import allo
from allo.ir.types import int32, uint8

BLOCKS = 64
ROUNDS = 14


def substitution_box() -> np.ndarray:
    """The S-box, walking through the powers of 3 and their inverses at the same time."""
    box = np.zeros(256, np.uint8)
    power = inverse = 1
    for _ in range(255):
        power ^= (power << 1) ^ (0x11B if power & 0x80 else 0)
        inverse ^= inverse << 1
        inverse ^= inverse << 2
        inverse = (inverse ^ (inverse << 4)) & 0xFF
        inverse ^= 0x09 if inverse & 0x80 else 0
        spread = inverse * 0x101
        box[power & 0xFF] = (
            inverse ^ (spread >> 7) ^ (spread >> 6) ^ (spread >> 5) ^ (spread >> 4) ^ 0x63
        ) & 0xFF
    box[0] = 0x63
    return box


SBOX = substitution_box()


def doubled(x: uint8) -> uint8:
    """x times 2 in GF(256)."""
    y: uint8 = x << 1
    if x[7] == 1:
        y ^= 0x1B
    return y


def mix_columns(state: uint8[16]):
    for column in range(4):
        total: uint8 = 0
        for row in range(4):
            total ^= state[4 * column + row]
        first: uint8 = state[4 * column]
        for row in range(3):
            state[4 * column + row] ^= total ^ doubled(state[4 * column + row] ^ state[4 * column + row + 1])
        state[4 * column + 3] ^= total ^ doubled(state[4 * column + 3] ^ first)


def substitute_and_shift(state: uint8[16]):
    """Row r of the state, which has its columns one behind the other, turns left by r."""
    old: uint8[16] = state
    for column, row in allo.grid(4, 4):
        state[4 * column + row] = SBOX[old[4 * ((column + row) % 4) + row]]


def next_keys(key: uint8[32], constant: uint8):
    """The next eight words of the key schedule, in place."""
    for i in range(4):
        key[i] ^= SBOX[key[28 + (i + 1) % 4]]
    key[0] ^= constant
    for i in range(4, 16):
        key[i] ^= key[i - 4]
    for i in range(16, 20):
        key[i] ^= SBOX[key[i - 4]]
    for i in range(20, 32):
        key[i] ^= key[i - 4]


def encrypt(key: uint8[32], data: uint8[BLOCKS, 16]):
    for block in range(BLOCKS):
        keys: uint8[32] = key
        state: uint8[16] = data[block]
        constant: uint8 = 1
        for i in range(16):
            state[i] ^= keys[i]
        for round in range(1, ROUNDS + 1):
            substitute_and_shift(state)
            if round < ROUNDS:
                mix_columns(state)
            half: int32 = 16 * (round % 2)
            if half == 0:
                next_keys(keys, constant)
                constant = doubled(constant)
            for i in range(16):
                state[i] ^= keys[half + i]
        data[block] = state


def product(a: int, b: int) -> int:
    """a times b in GF(256), by its definition."""
    result = 0
    for bit in range(8):
        result ^= (a << bit) if b >> bit & 1 else 0
    for bit in range(14, 7, -1):
        result ^= (0x11B << (bit - 8)) if result >> bit & 1 else 0
    return result


@functools.cache
def substituted(x: int) -> int:
    """The S-box by its definition: the inverse (the 254th power), then the affine map."""
    inverse = 1
    for _ in range(254):
        inverse = product(inverse, x)
    turned = [inverse << n | inverse >> (8 - n) for n in range(5)]
    return (turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63) & 0xFF


def reference(key: bytes, data: bytes) -> bytes:
    """One block, with lists of columns as in FIPS 197, section 5."""
    box = [substituted(x) for x in range(256)]
    words = [list(key[i : i + 4]) for i in range(0, 32, 4)]
    constant = 1
    for i in range(8, 60):
        word = words[i - 1]
        if i % 8 == 0:
            word = [box[x] for x in word[1:] + word[:1]]
            word[0] ^= constant
            constant = product(constant, 2)
        elif i % 8 == 4:
            word = [box[x] for x in word]
        words.append([a ^ b for a, b in zip(words[i - 8], word, strict=True)])
    state = [[data[4 * c + r] ^ words[c][r] for r in range(4)] for c in range(4)]
    for turn in range(1, ROUNDS + 1):
        state = [[box[state[(c + r) % 4][r]] for r in range(4)] for c in range(4)]
        if turn < ROUNDS:
            matrix = [[2, 3, 1, 1], [1, 2, 3, 1], [1, 1, 2, 3], [3, 1, 1, 2]]
            mixed = [[[product(a, b) for a, b in zip(row, c, strict=True)] for row in matrix] for c in state]
            state = [[p[0] ^ p[1] ^ p[2] ^ p[3] for p in column] for column in mixed]
        state = [[state[c][r] ^ words[4 * turn + c][r] for r in range(4)] for c in range(4)]
    return bytes(x for column in state for x in column)


def check() -> None:
    """The example of FIPS 197, appendix C.3, in the first block; random blocks behind it."""
    key = np.arange(32, dtype=np.uint8)
    data = np.random.default_rng(2).integers(0, 256, (BLOCKS, 16), dtype=np.uint8)
    data[0] = np.arange(16) * 0x11
    wanted = [reference(key.tobytes(), block.tobytes()) for block in data]
    allo.customize(encrypt).build()(key, data)
    assert wanted[0].hex() == "8ea2b7ca516745bfeafc49904b496089"
    assert [block.tobytes() for block in data] == wanted


def main() -> None:
    check()
    print(f"aes: {BLOCKS} blocks are encrypted as FIPS 197 says")


if __name__ == "__main__":
    main()
