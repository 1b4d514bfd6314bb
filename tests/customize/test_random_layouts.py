"""Random kernels whose arrays get other shapes and are packed into words, among other steps: same elements."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import note
from hypothesis import strategies as st

from allo import Schedule, ScheduleError, customize
from tests.seeds import drawn, sweep

from .checks import arguments_of, assert_equal
from .random_kernels import ARRAYS, load, random_step, sources

SHAPES = {1: [(3, 4), (2, 2, 3), (12, 1)], 2: [(144,), (6, 24), (12, 3, 4), (2, 6, 12), (16, 9), (9, 4, 4)]}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layouts")


def packed(array: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """Pairs of int32 along an axis as words of 64 bits."""
    lanes = np.moveaxis(array.view(np.uint32).astype(np.uint64), axis, -1)
    words = lanes[..., ::2] | lanes[..., 1::2] << np.uint64(32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis))


def change_layout(
    draw: st.DrawFn, s: Schedule, name: str, array: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Reshape or pack (or both) an argument; what the array is for the changed kernel. Not all banks allow it."""
    with suppress(ScheduleError):
        if draw(st.booleans()):
            shape = draw(st.sampled_from(SHAPES[ARRAYS[name]]))
            s.reshape(name, shape)
            array = array.reshape(shape)
        even = [axis for axis, extent in enumerate(array.shape) if extent % 2 == 0]
        if even and draw(st.booleans()):
            axis = draw(st.sampled_from(even))
            s.pack(name, axis + 1, 2)
            array = packed(array, axis)
    return array


@sweep(33, quick=1)
@drawn(15, st.data())
def test_layouts_keep_elements(directory: Path, data: st.DataObject) -> None:
    kernel = load(data.draw(sources()), directory)
    note(kernel.source)
    s = customize(kernel.function)
    for _ in range(data.draw(st.integers(0, 4))):
        name, arguments, options = random_step(data.draw, s)
        if name == "parallel":  # words of loops in parallel are refused
            continue
        try:
            getattr(s, name)(*arguments, **options)
        except ScheduleError as error:
            note(str(error))
    plain, given_arrays = arguments_of(kernel.function), arguments_of(kernel.function)
    before = len(s.steps)
    changed = [change_layout(data.draw, s, name, a) for name, a in zip(ARRAYS, given_arrays, strict=True)]
    layout_steps = s.steps[before:]
    note(f"{s!r}\n{s.module}")
    s.build()(*changed)
    customize(kernel.function).build()(*plain)
    wanted = []
    for name, array in zip(ARRAYS, plain, strict=True):
        for step in layout_steps:
            options = dict(step.arguments)
            if options["buffer"].name == name:
                array = (
                    array.reshape(options["shape"])
                    if step.name == "reshape"
                    else packed(array, options["dim"] - 1)
                )
        wanted.append(array)
    assert_equal(changed, wanted)
