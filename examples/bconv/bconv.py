"""Binary convolution: values are +1 or -1, a word holds one bit of each channel, and a product is an exclusive nor."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import UInt, index, int32, uint8, uint32, uint64

BATCH, SIDE, OUTPUTS, TAPS = 4, 16, 32, 3
WORDS = 2  # words of channels a pixel


def count_by_bits[T: (uint32, uint64)](word: T) -> int32:
    """The number of ones: an adder for each bit, which hardware makes a tree."""
    total: int32 = 0
    for i in range(T.bits, name="bits"):
        total += word[i]
    return total


def count_by_halves(word: uint32) -> int32:
    """The number of ones: sums of neighbours in fields of 2, 4 and 8 bits, which processors like."""
    pairs: uint32 = word - ((word >> 1) & 0x55555555)
    nibbles: uint32 = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    octets: uint32 = (nibbles + (nibbles >> 4)) & 0x0F0F0F0F
    total: uint32 = octets * 0x01010101
    return total >> 24


ONES = np.array([bin(i).count("1") for i in range(256)], dtype=np.uint8)


def count_by_table(word: uint32) -> int32:
    """The number of ones: one entry of a table for each eight bits."""
    total: int32 = 0
    for i in range(4, name="octets"):
        octet: uint8 = word[8 * i : 8 * i + 8]
        total += ONES[octet]
    return total


def convolution[T: (uint32, uint64), B: index, S: index, W: index, O: index, K: index, How: int32](
    x: T[B, S, S, W], weights: T[O, K, K, W], y: int32[B, O, S - K + 1, S - K + 1]
):
    """A sum of n products of which p are -1 is n - 2 p."""
    for b, o, row, column in allo.grid(B, O, S - K + 1, S - K + 1, name="points"):
        differences: int32 = 0
        for p, q, w in allo.reduction(K, K, W, name="taps"):
            word: T = x[b, row + p, column + q, w] ^ weights[o, p, q, w]
            with allo.meta_if(How == 0):
                differences += count_by_bits[T](word)
            with allo.meta_elif(How == 1):
                differences += count_by_halves(word)
            with allo.meta_else():
                differences += count_by_table(word)
        y[b, o, row, column] = K * K * W * T.bits - 2 * differences


def pack[T: (uint32, uint64), B: index, O: index, S: index](
    y: int32[B, O, S, S], threshold: int32[O], x: T[B, S, S, O // T.bits]
):
    """The bit of a channel says whether its value reaches the threshold: the input of a next layer."""
    for b, row, column, w in allo.grid(B, S, S, O // T.bits, name="words"):
        word: T = 0
        for i in range(T.bits, name="channels"):
            channel: index = w * T.bits + i
            word[i] = 1 if y[b, channel, row, column] >= threshold[channel] else 0
        x[b, row, column, w] = word


def layer[T: (uint32, uint64), B: index, S: index, W: index, O: index, K: index, How: int32](
    x: T[B, S, S, W],
    weights: T[O, K, K, W],
    threshold: int32[O],
    y: int32[B, O, S - K + 1, S - K + 1],
    packed: T[B, S - K + 1, S - K + 1, O // T.bits],
):
    convolution[T, B, S, W, O, K, How](x, weights, y)
    pack[T, B, O, S - K + 1](y, threshold, packed)


def signs(words: np.ndarray) -> np.ndarray:
    """The last dimension of words as one of +1 and -1."""
    octets = words.view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little").astype(np.int32) * 2 - 1


def reference(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The convolution of the numbers +1 and -1."""
    taps = weights.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(signs(x), (taps, taps), axis=(1, 2))
    return np.einsum("brscpq,opqc->bors", windows, signs(weights), optimize=True)


def check(
    word: UInt = uint32,
    how: int = 0,
    batch: int = BATCH,
    side: int = SIDE,
    words: int = WORDS,
    outputs: int = OUTPUTS,
    taps: int = TAPS,
) -> None:
    """`how` the ones are counted: 0 bit by bit, 1 by halves, 2 by table (1 and 2 with words of 32 bits)."""
    generator = np.random.default_rng(30)
    dtype, size = np.dtype(f"u{word.bits // 8}"), side - taps + 1
    limit = 2**word.bits - 1
    x = generator.integers(0, limit, (batch, side, side, words), dtype=dtype, endpoint=True)
    weights = generator.integers(0, limit, (outputs, taps, taps, words), dtype=dtype, endpoint=True)
    threshold = generator.integers(-20, 20, outputs, dtype=np.int32)
    wanted = reference(x, weights)
    y = np.zeros((batch, outputs, size, size), np.int32)
    packed = np.zeros((batch, size, size, outputs // word.bits), dtype)
    module = allo.customize(layer, instantiate=[word, batch, side, words, outputs, taps, how]).build()
    module(x, weights, threshold, y, packed)
    np.testing.assert_array_equal(y, wanted)
    reached = (wanted >= threshold[:, None, None]).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(signs(packed) == 1, reached)


def main() -> None:
    for how in range(3):
        check(uint32, how)
    check(uint64, words=1, outputs=64)
    print(f"bconv: {OUTPUTS} binary filters of {TAPS} x {TAPS} x {32 * WORDS} agree with NumPy")


if __name__ == "__main__":
    main()
