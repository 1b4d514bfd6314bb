"""Memory of the arrays that kernels make for themselves: threads keep it for their next calls."""

from __future__ import annotations

import ctypes
import random
import resource

import numpy as np

import allo
from allo import _mlir
from allo.ir.types import float64


def test_calls_map_no_memory_anew() -> None:
    def kernel(x: float64[262144]):
        a: float64[262144] = 0.0
        b: float64[262144] = 0.0
        c: float64[262144] = 0.0
        for i in range(262144):
            a[i] = x[i] + 1.0
            b[262143 - i] = x[i] + 2.0
        for i in range(262144):
            c[i] = a[262143 - i] * b[i]
        for i in range(262144):
            x[i] = c[i]

    schedule = allo.customize(kernel)
    built, x = schedule.build(), np.ones(262144)
    assert "@allo_array_alloc(" in built.llvm and "@allo_array_free(" in built.llvm and "@free(" not in built.llvm
    built(x)
    assert (x == 6.0).all()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        built(x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000  # arrays have 1,536 pages, ten times
    assert "allo_array_alloc" not in schedule.build(check=True).llvm  # which frees what a call leaves behind


def test_blocks_are_used_again_and_never_twice_at_a_time() -> None:
    library = ctypes.CDLL(_mlir.runtime_library())
    allocate, free = library.allo_array_alloc, library.allo_array_free
    allocate.argtypes, allocate.restype = [ctypes.c_size_t] * 2, ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None
    first = allocate(64, 1 << 20)
    free(first)
    assert allocate(64, 1 << 18) != first  # a fourth would waste the rest
    assert allocate(64, 1 << 20) == first
    free(first)
    free(None)
    choice, used, known, again = random.Random(0), {}, {first}, 0
    for _ in range(2000):
        if used and choice.random() < 0.5:
            free(used.pop(choice.choice(list(used)))[0])
            continue
        size = choice.choice((1 << 10, 40 << 10, 1 << 20, 3 << 20)) + 64 * choice.randrange(64)
        at = allocate(64, size)
        assert at % 64 == 0 and not any(begin < at + size and at < end for begin, end in used.values())
        again += at in known
        known.add(at)
        used[len(known) + 10_000 * again] = (at, at + size)
    for begin, _ in used.values():
        free(begin)
    assert again > 100
