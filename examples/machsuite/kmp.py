"""Knuth, Morris and Pratt: how often a pattern occurs in a text, with overlaps."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import index, int32, uint8

LENGTH = 32411
PATTERN = b"bull"


def failures[P: index](pattern: uint8[P], back: int32[P]):
    """back[q] is the length of the longest border of the first q + 1 letters."""
    matched: int32 = 0
    back[0] = 0
    for q in range(1, P):
        while matched > 0 and pattern[matched] != pattern[q]:
            matched = back[matched - 1]
        if pattern[matched] == pattern[q]:
            matched += 1
        back[q] = matched


def kmp[P: index, N: index](pattern: uint8[P], text: uint8[N]) -> int32:
    back: int32[P]
    failures[P](pattern, back)
    found: int32 = 0
    matched: int32 = 0
    for i in range(N):
        while matched > 0 and pattern[matched] != text[i]:
            matched = back[matched - 1]
        if pattern[matched] == text[i]:
            matched += 1
        if matched == P:
            found += 1
            matched = back[matched - 1]
    return found


def occurrences(pattern: bytes, text: bytes) -> int:
    return sum(text.startswith(pattern, start) for start in range(len(text)))


def check(pattern: bytes = PATTERN, length: int = LENGTH) -> None:
    letters = np.frombuffer(bytes(sorted(set(pattern))), np.uint8)
    text = np.random.default_rng(8).choice(letters, length)
    module = allo.customize(kmp, instantiate=[len(pattern), length]).build()
    wanted = occurrences(pattern, text.tobytes())
    assert wanted > 0
    assert module(np.frombuffer(pattern, np.uint8), text) == wanted


def main() -> None:
    check()
    check(b"ababaab")
    print(f"kmp: all occurrences in texts of {LENGTH} letters are counted")


if __name__ == "__main__":
    main()
