"""Needleman and Wunsch: the best global alignment of two sequences, and the aligned sequences."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import functools

import numpy as np

import allo
from allo.ir.types import index, int32, uint2, uint8

LENGTH_A, LENGTH_B = 128, 120
MATCH, MISMATCH, GAP = 1, -1, -1
DASH = ord("-")
DIAGONAL, UP, LEFT = 0, 1, 2  # where a cell comes from; of equal scores, the first in this order


def align[A: index, B: index](
    a: uint8[A], b: uint8[B], gapped_a: uint8[A + B], gapped_b: uint8[A + B]
) -> int32:
    """The score; the alignment is written from its end, and followed by zeros."""
    score: int32[A + 1, B + 1]
    origin: uint2[A + 1, B + 1]
    for i in range(A + 1):
        score[i, 0] = i * GAP
        origin[i, 0] = UP
    for j in range(B + 1):
        score[0, j] = j * GAP
        origin[0, j] = LEFT
    for i in range(1, A + 1, name="rows"):
        for j in range(1, B + 1):
            diagonal: int32 = score[i - 1, j - 1] + (MATCH if a[i - 1] == b[j - 1] else MISMATCH)
            up: int32 = score[i - 1, j] + GAP
            left: int32 = score[i, j - 1] + GAP
            best: int32 = max(diagonal, up, left)
            score[i, j] = best
            origin[i, j] = DIAGONAL if best == diagonal else (UP if best == up else LEFT)
    row: int32 = A
    column: int32 = B
    length: int32 = 0
    gapped_a[:] = 0
    gapped_b[:] = 0
    while row > 0 or column > 0:
        gapped_a[length] = DASH
        gapped_b[length] = DASH
        came_from: uint2 = origin[row, column]
        if came_from != LEFT:
            row -= 1
            gapped_a[length] = a[row]
        if came_from != UP:
            column -= 1
            gapped_b[length] = b[column]
        length += 1
    return score[A, B]


def best_score(a: bytes, b: bytes) -> int:
    """The best score, by recursion over what is left of both sequences."""

    @functools.cache
    def best(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return (len(a) - i + len(b) - j) * GAP
        step = MATCH if a[i] == b[j] else MISMATCH
        return max(best(i + 1, j + 1) + step, best(i + 1, j) + GAP, best(i, j + 1) + GAP)

    for i in range(len(a), -1, -32):  # from the end, so that the recursion stays shallow
        for j in range(len(b), -1, -32):
            best(i, j)
    return best(0, 0)


def score_of(gapped_a: bytes, gapped_b: bytes) -> int:
    """The score of an alignment that is given."""
    pairs = list(zip(gapped_a, gapped_b, strict=True))
    assert (DASH, DASH) not in pairs
    return sum(GAP if DASH in pair else MATCH if pair[0] == pair[1] else MISMATCH for pair in pairs)


def check(length_a: int = LENGTH_A, length_b: int = LENGTH_B) -> None:
    generator = np.random.default_rng(9)
    a, b = (generator.choice(np.frombuffer(b"acgt", np.uint8), n) for n in (length_a, length_b))
    gapped = np.ones((2, length_a + length_b), np.uint8)
    score = allo.customize(align, instantiate=[length_a, length_b]).build()(a, b, gapped[0], gapped[1])
    gapped_a, gapped_b = (bytes(row[::-1]).lstrip(b"\0") for row in gapped)
    assert score == best_score(a.tobytes(), b.tobytes()) == score_of(gapped_a, gapped_b)
    assert gapped_a.replace(b"-", b"") == a.tobytes()
    assert gapped_b.replace(b"-", b"") == b.tobytes()


def main() -> None:
    check()
    print(f"nw: the alignment of {LENGTH_A} with {LENGTH_B} letters is a best one")


if __name__ == "__main__":
    main()
