"""Random kernels, unfolded and connected: what is accepted keeps the results, as loops and as functions of elements."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import note
from hypothesis import strategies as st

from allo import Schedule, ScheduleError, customize
from allo.backend.instantiate import instantiate
from tests.seeds import drawn, sweep

from .checks import assert_equal, outcome
from .random_kernels import ARRAYS, load, sources


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def attempt(s: Schedule, name: str, *arguments: object, **options: object) -> object:
    """The result of a primitive, or None if it is refused; then nothing has changed."""
    text = str(s.module)
    try:
        return getattr(s, name)(*arguments, **options) or True
    except ScheduleError:
        assert str(s.module) == text
        return None


@sweep(21, quick=0)
@drawn(15, st.data())
def test_accepted_steps_keep_the_results(directory: Path, data: st.DataObject) -> None:
    kernel = load(data.draw(sources()), directory)
    note(kernel.source)
    s = customize(kernel.function)
    for nest in list(s.get_loops()):
        loops = list(nest)
        axes = data.draw(st.lists(st.integers(0, min(len(loops), 2) - 1), min_size=1, unique=True))
        buffers = [
            buffer
            for array in data.draw(st.lists(st.sampled_from(sorted(ARRAYS)), max_size=2, unique=True))
            if (buffer := attempt(s, "buffer_at", array, loops[max(axes)])) is not None
        ]
        if attempt(s, "unfold", nest, axes=axes) is not None:
            for buffer in buffers:
                attempt(s, "relay", buffer, nest.name, axis=data.draw(st.sampled_from(axes)))
    note(s.pseudocode())
    wanted = outcome(customize(kernel.function), kernel.function)
    assert_equal(outcome(s, kernel.function), wanted)
    assert_equal(outcome(Schedule(instantiate(s.ir)), kernel.function), wanted)
