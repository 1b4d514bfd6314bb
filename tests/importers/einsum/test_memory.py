"""Memory of results is used again when no array is in it, and only then."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import allo
from allo.importers.einsum.memory import ResultMemory

FP32, FP64 = np.dtype(np.float32), np.dtype(np.float64)


def place(array: Any) -> int:
    return int(array.ctypes.data)


def test_a_block_is_used_again_when_the_last_view_has_died() -> None:
    memory = ResultMemory(1 << 20)
    first = memory.empty(1000, FP64)
    at, views = place(first), [first.reshape(10, 100)[2:].T, memoryview(first), first.view(np.int64)[::2]]
    assert at % 64 == 0 and first.flags.writeable and first.shape == (1000,)
    del first
    while views:
        assert place(memory.empty(1000, FP64)) != at
        views.pop()
    assert at in (place(memory.empty(2000, FP32)), place(memory.empty(1000, FP64)))
    assert memory.held == 2 * 8192


def test_arrays_in_a_circle_keep_their_block_until_they_are_collected() -> None:
    memory = ResultMemory(1 << 20)
    gc.disable()
    try:
        circle: list[Any] = [memory.empty(1024, FP64)]
        circle.append(circle)
        at = place(circle[0])
        del circle
        assert place(memory.empty(1024, FP64)) != at
        gc.collect()
        assert at in [place(array) for array in [memory.empty(1024, FP64) for _ in range(2)]]
    finally:
        gc.enable()


def test_blocks_have_a_bound() -> None:
    memory = ResultMemory(10 * 4096)
    kept = [memory.empty(512, FP64) for _ in range(12)]
    assert memory.held == 10 * 4096 and len({place(array) for array in kept}) == 12
    for number, array in enumerate(kept):
        array[:] = number
    assert all((array == number).all() for number, array in enumerate(kept))
    del kept, array
    large = memory.empty(10 * 512, FP64)  # in the place of those that are free
    assert memory.held == 10 * 4096
    assert not isinstance(large.base, np.ndarray)  # lent, and no array beside the blocks
    del large
    assert memory.empty(100 * 512, FP64).shape == (51200,) and memory.held <= 10 * 4096
    assert memory.empty(3, FP64).shape == (3,) and memory.held <= 10 * 4096


def test_threads_never_share_a_block() -> None:
    memory = ResultMemory(20 * 4096)

    def work(number: int) -> bool:
        kept = []
        for k in range(300):
            kept.append(memory.empty(512 * (1 + k % 3), FP64))
            kept[-1][:] = 1000 * number + k
            kept = kept[-4:]
            if any((array != 1000 * number + k - back).any() for back, array in enumerate(reversed(kept))):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert memory.held <= memory.most


def test_results_of_calls_stay_as_they_are() -> None:
    A = np.random.default_rng(0).normal(size=(40, 40))
    A.flags.writeable = False  # read-only arrays are operands, too

    def work(number: int) -> bool:
        found = [allo.einsum("ij,jk->ik", A + number + k, A) for k in range(20)]
        return all(np.allclose(result, (A + number + k) @ A) for k, result in enumerate(found))

    assert np.allclose(allo.einsum("ij,jk->ik", A, A), A @ A)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))
