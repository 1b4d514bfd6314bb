"""Transfers of parts of arrays: descriptors within their fields, and what no descriptor can move."""

from __future__ import annotations

import numpy as np
import pytest

from allo.errors import TargetError
from allo.mapping import (
    ArrayPart,
    CallArray,
    PartAccess,
    PartUse,
    RuntimeSequence,
    ShimTransfer,
    VirtualGraph,
    VirtualNode,
    mapped,
    plan_of,
    sequence_of,
)  # fmt: skip
from allo.target import ProcessorArray, load_target

ARRAY = load_target("xdna1_npu1")
assert isinstance(ARRAY, ProcessorArray)


def sequence(
    bits: int, shape: tuple[int, ...], *parts: tuple[tuple[int, ...], tuple[int, ...]]
) -> RuntimeSequence:
    """The sequence for one core that reads these parts of an array in turn."""
    array = CallArray("A", f"i{bits}", bits, shape)
    nodes = [
        VirtualNode(f"f_{k}", "f", (k,), "f", (PartUse(0, ArrayPart(array, *own), PartAccess.IN),), (), ())
        for k, own in enumerate(parts)
    ]
    mapping = mapped(
        VirtualGraph((array,), tuple(nodes), ()), [("bundle", [n.name for n in nodes])] if parts[1:] else []
    )
    return sequence_of(plan_of(mapping, ARRAY))


def walks(made: RuntimeSequence) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(step.walk.extents, step.walk.strides) for step in made.steps if isinstance(step, ShimTransfer)]


def test_a_whole_array_is_one_run() -> None:
    assert walks(sequence(16, (64, 64), ((0, 0), (64, 64)))) == [((4096,), (1,))]


def test_tiles_of_a_row_are_one_transfer() -> None:
    tiles = [((0, 8 * k), (8, 8)) for k in range(4)]
    assert walks(sequence(16, (8, 32), *tiles)) == [((4, 8, 8), (8, 32, 1))]


def test_long_rows_are_divided() -> None:
    """A loop of a descriptor counts to 1,023."""
    assert walks(sequence(16, (4, 8192), ((0, 0), (4, 4096)))) == [((4, 4, 1024), (8192, 1024, 1))]


def test_more_iterations_than_there_are_become_transfers() -> None:
    tiles = [((r, 0, 0, 0), (1, 4, 4, 8)) for r in range(66)]
    made = walks(sequence(32, (66, 5, 8, 16), *tiles))
    assert made == [((4, 4, 8), (128, 16, 1))] * 66


def test_strides_that_are_too_long_become_transfers() -> None:
    assert walks(sequence(32, (3, 1 << 21), ((0, 0), (3, 4)))) == [((4,), (1,))] * 3


def test_a_loop_without_a_wrap_takes_what_cannot_be_divided() -> None:
    assert walks(sequence(32, (1031, 16), ((0, 0), (1031, 1)))) == [((1031, 1, 1), (16, 16, 16))]


def test_what_is_moved_is_the_parts_in_their_order() -> None:
    state = np.random.default_rng(0)
    for _ in range(30):
        shape = tuple(int(n) for n in state.integers(1, 9, 2) * (1, 4))
        extents = (int(state.integers(1, shape[0] + 1)), int(state.integers(1, shape[1] // 4 + 1)) * 4)
        parts = [
            (
                tuple(
                    int(state.integers(0, (n - e) // s + 1)) * s
                    for n, e, s in zip(shape, extents, (1, 4), strict=True)
                ),
                extents,
            )
            for _ in range(state.integers(1, 5))
        ]
        numbers = np.arange(np.prod(shape)).reshape(shape)
        wanted = [numbers[a : a + m, b : b + n].reshape(-1) for (a, b), (m, n) in parts]
        if all((part == parts[0]) for part in parts):
            wanted = wanted[:1]  # it stays in the core
        steps = [step for step in sequence(16, shape, *parts).steps if isinstance(step, ShimTransfer)]
        assert [a for step in steps for a in step.walk.addresses()] == np.concatenate(wanted).tolist()


WORDS = "transfers move words of 4 bytes, and {}, of {} bytes an element, is not made of them: {}\n  hint: let parts begin and end at multiples of four bytes in the last dimension"  # noqa: E501


@pytest.mark.parametrize(
    ("bits", "shape", "part", "message"),
    [
        (
            16,
            (8, 8),
            ((0, 1), (8, 1)),
            WORDS.format("A[0:8, 1:2]", 2, "its elements do not follow one another"),
        ),
        (16, (8, 8), ((0, 0), (8, 3)), WORDS.format("A[0:8, 0:3]", 2, "6 bytes follow one another")),
        (8, (64,), ((2,), (8,)), WORDS.format("A[2:10]", 1, "it begins at byte 2")),
        (8, (4, 6), ((0, 0), (4, 4)), WORDS.format("A[0:4, 0:4]", 1, "rows are 6 bytes apart")),
    ],
)
def test_refused(
    bits: int, shape: tuple[int, ...], part: tuple[tuple[int, ...], tuple[int, ...]], message: str
) -> None:
    with pytest.raises(TargetError) as caught:
        sequence(bits, shape, part)
    assert str(caught.value) == message
