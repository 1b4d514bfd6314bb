"""Sorting of integers: merge sort from runs of one, and radix sort with buckets of two bits."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import index, int32, uint32

LENGTH = 2048
BLOCK = 4  # elements that one histogram of the radix sort counts
RADIX_BITS = 2
BUCKETS = 2**RADIX_BITS


def merge[N: index](values: int32[N], work: int32[N], start: index, middle: index, stop: index):
    """Merge the sorted runs [start, middle) and [middle, stop) of `values` to the same place."""
    left: int32 = start
    right: int32 = middle
    for i in range(start, stop):
        if right >= stop or (left < middle and values[left] <= values[right]):
            work[i] = values[left]
            left += 1
        else:
            work[i] = values[right]
            right += 1
    for i in range(start, stop):
        values[i] = work[i]


def merge_sort[N: index](values: int32[N]):
    work: int32[N]
    run: int32 = 1
    while run < N:
        start: int32 = 0
        while start + run < N:
            merge[N](values, work, start, start + run, min(start + 2 * run, N))
            start += 2 * run
        run *= 2


def distribute[N: index](source: uint32[N], target: uint32[N], shift: int32):
    """One pass: a stable sort by the two bits from `shift` on, with a histogram for each block."""
    counts: int32[BUCKETS * (N // BLOCK)] = 0
    for block in range(N // BLOCK):
        for i in range(BLOCK):
            bucket: index = (source[BLOCK * block + i] >> shift) & (BUCKETS - 1)
            counts[(N // BLOCK) * bucket + block] += 1
    total: int32 = 0
    for k in range(BUCKETS * (N // BLOCK), name="scan"):
        count: int32 = counts[k]
        counts[k] = total
        total += count
    for block in range(N // BLOCK):
        for i in range(BLOCK):
            value: uint32 = source[BLOCK * block + i]
            slot: index = (N // BLOCK) * ((value >> shift) & (BUCKETS - 1)) + block
            target[counts[slot]] = value
            counts[slot] += 1


def radix_sort[N: index](values: uint32[N]):
    """Two passes at a time, to `work` and back."""
    work: uint32[N]
    for shift in range(0, 32, 2 * RADIX_BITS):
        distribute[N](values, work, shift)
        distribute[N](work, values, shift + RADIX_BITS)


def check_merge(length: int = LENGTH) -> None:
    values = np.random.default_rng(3).integers(-(2**31), 2**31, length, dtype=np.int32)
    wanted = np.sort(values)
    allo.customize(merge_sort, instantiate=[length]).build()(values)
    np.testing.assert_array_equal(values, wanted)


def check_radix(length: int = LENGTH) -> None:
    values = np.random.default_rng(4).integers(0, 2**32, length, dtype=np.uint32)
    wanted = np.sort(values)
    allo.customize(radix_sort, instantiate=[length]).build()(values)
    np.testing.assert_array_equal(values, wanted)


def main() -> None:
    check_merge()
    check_radix()
    print(f"sort: merge sort and radix sort of {LENGTH} integers agree with numpy.sort")


if __name__ == "__main__":
    main()
