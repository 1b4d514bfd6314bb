"""Operands that float and integer units find hard: ties, cancellation, the edges of the range, special values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


def float_pairs(exponent: int, fraction: int, count: int, seed: int) -> tuple[Words, Words]:
    """Pairs of floats by their bits: a quarter each of any bits, near exponents, products at the ends of the range,
    and few digits (ties); then all pairs of special values."""
    random = np.random.default_rng(seed)
    width = 1 + exponent + fraction
    one = np.uint64(1)

    def bits(low: int, high: int, size: int) -> Words:
        return random.integers(low, high, size, dtype=np.uint64)

    quarter = count // 4
    a, b = (random.integers(0, 1 << 63, count, dtype=np.uint64) * np.uint64(2) + bits(0, 2, count) for _ in "ab")
    mask = np.uint64((1 << width) - 1)
    a, b = a & mask, b & mask
    digits, sign = np.uint64((1 << fraction) - 1), one << np.uint64(width - 1)
    near = slice(0, quarter)
    power = (a[near] >> np.uint64(fraction)) & np.uint64((1 << exponent) - 1)
    power = np.minimum(power + bits(0, 3, quarter), np.uint64((1 << exponent) - 1))
    b[near] = (b[near] & (digits | sign)) | (power << np.uint64(fraction))
    b[: quarter // 4] = a[: quarter // 4] ^ sign ^ bits(0, 4, quarter // 4)  # what is left is small
    edge = slice(quarter, 2 * quarter)
    bias = (1 << exponent - 1) - 1
    first = bits(0, 1 << exponent, quarter).astype(np.int64)
    goal = np.where(bits(0, 2, quarter) == 0, -bias, bias) + random.integers(-fraction - 4, 5, quarter)
    second = np.clip(goal - (first - bias) + bias, 0, (1 << exponent) - 1).astype(np.uint64)
    a[edge] = (a[edge] & (digits | sign)) | (first.astype(np.uint64) << np.uint64(fraction))
    b[edge] = (b[edge] & (digits | sign)) | (second << np.uint64(fraction))
    few = slice(2 * quarter, 3 * quarter)
    kept = ~np.uint64((1 << fraction // 2 + 1) - 1)
    a[few], b[few] = a[few] & kept, b[few] & kept
    special = special_floats(exponent, fraction)
    pairs = min(len(special) ** 2, quarter)
    a[-pairs:] = np.repeat(special, len(special))[:pairs]
    b[-pairs:] = np.tile(special, len(special))[:pairs]
    return a, b


def special_floats(exponent: int, fraction: int) -> Words:
    """Zeros, least and most, subnormal and not, around 1, infinities, NaN, of both signs."""
    width, top = 1 + exponent + fraction, (1 << exponent) - 1
    bias = top >> 1
    positive = [
        0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, 1 << fraction - 1,
        bias << fraction, (bias << fraction) + 1, (bias << fraction) - 1, (bias + 1) << fraction,
        (bias - 1) << fraction, min(bias + fraction, top - 1) << fraction, (top << fraction) - 1,
        top << fraction, (top << fraction) + 1, (top << fraction) + (1 << fraction - 1),
    ]  # fmt: skip
    return np.array([word | sign << width - 1 for sign in (0, 1) for word in positive], np.uint64)


def integer_pairs(width: int, count: int, seed: int) -> tuple[Words, Words]:
    """Pairs of integers by their bits: of any size, small ones, and all pairs of extreme ones."""
    random = np.random.default_rng(seed)
    mask = np.uint64((1 << width) - 1)
    full = [random.integers(0, 1 << 63, count, dtype=np.uint64) << np.uint64(1) for _ in "ab"]
    a, b = (word ^ random.integers(0, 2, count, dtype=np.uint64) for word in full)
    # divisors of all lengths
    b = b >> random.integers(0, 64, count, dtype=np.uint64)
    b = np.where(random.integers(0, 2, count) == 0, b, ~b)
    extreme = [0, 1, 2, 3, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1, (1 << width) - 2]
    a[-64:] = np.repeat(np.array(extreme, np.uint64), 8)
    b[-64:] = np.tile(np.array(extreme, np.uint64), 8)
    return a & mask, b & mask
