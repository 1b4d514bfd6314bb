"""convert on random orders: elements come as before, through a tile as small as the types say."""

from __future__ import annotations

import random
from math import prod

import numpy as np

import allo
from allo.ir.types import int32
from allo.layout import ITensor, stream_converter
from tests.seeds import sweep


def nest(rng: random.Random, shape: tuple[int, ...], name: str, *, repeats: bool) -> tuple[str, str, ITensor]:
    """A loop nest over all elements in a random order: its head, the subscripts, and the type of its stream."""
    loops: list[tuple[int, int | None, int]] = []
    for d, extent in enumerate(shape):
        while extent > 1:
            trip = rng.choice([k for k in range(2, extent + 1) if extent % k == 0])
            extent //= trip
            loops.append((trip, d, extent))
    rng.shuffle(loops)
    if repeats and rng.random() < 0.5:
        loops.insert(rng.randrange(len(loops)), (rng.randint(2, 3), None, 1))  # the innermost loop would not matter
    variables = [f"{name[0]}{n}" for n in range(len(loops))]
    head = f"    for {', '.join(variables)} in allo.grid({', '.join(str(t) for t, _, _ in loops)}, name='{name}'):\n"
    places = [
        " + ".join(f"{step} * {v}" for v, (_, dim, step) in zip(variables, loops, strict=True) if dim == d) or "0"
        for d in range(len(shape))
    ]
    rows = tuple(tuple(int(dim == d) for _, dim, _ in loops) for d in range(len(shape)))
    trips, steps = tuple(t for t, _, _ in loops), tuple(s for _, _, s in loops)
    return head, ", ".join(places), ITensor((1,) * len(shape), trips, steps, rows, (), "i32")


@sweep(12, 1)
def test_random_orders(seed: int) -> None:
    rng = random.Random(seed)
    shape = tuple(rng.choice([2, 3, 4, 6]) for _ in range(rng.randint(1, 3)))
    make, put, source = nest(rng, shape, "produce", repeats=False)
    use, get, result = nest(rng, shape, "consume", repeats=True)
    kind = f"int32[{', '.join(map(str, shape))}]"
    kernel = (
        f"def kernel(A: {kind}, B: {kind}):\n    C: {kind}\n"
        f"{make}        C[{put}] = A[{put}] * 3\n{use}        B[{get}] = B[{get}] * 2 + C[{get}]\n"
    )
    plain, s = (allo.customize(kernel, global_vars={"allo": allo, "int32": int32}) for _ in range(2))
    tile = s.convert("C", "consume")
    made = stream_converter(source, result)
    assert (made is None) == (tile is None)
    if made is not None:
        assert [a.bytes for a in s.report().buffers if a.name in ("C_tile", "C_rows")] == [4 * made.buffered]
    s.size_fifos()
    A = np.arange(prod(shape), dtype=np.int32).reshape(shape)
    found, wanted = np.ones(shape, np.int32), np.ones(shape, np.int32)
    s.build()(A, found)
    plain.build()(A, wanted)
    np.testing.assert_array_equal(found, wanted)
    if seed % 4 == 0:
        assert allo.verify(plain, s)
