"""Handles at the keyboard: trees that answer hasattr and dir, what is gone, what is of another schedule."""

from __future__ import annotations

import pytest

import allo
from allo import ScheduleError
from allo.ir.types import float32


def gemm(A: float32[8, 8], B: float32[8, 8], C: float32[8, 8]):
    for i, j, k in allo.grid(8, 8, 8, name="product"):
        C[i, j] += A[i, k] * B[k, j]


def scale(A: float32[8], B: float32[8]):
    for i in allo.grid(8, name="rows"):
        B[i] = A[i] * 2.0


def refusal(action) -> str:
    with pytest.raises(ScheduleError) as refused:
        action()
    first = refused.value.diagnostics[0]
    return "\n".join([first.message, *(note.message for note in first.notes), str(first.hint)])


def test_trees_answer_hasattr_and_dir() -> None:
    loops = allo.customize(gemm).get_loops()
    assert hasattr(loops, "product") and hasattr(loops.product, "k")
    assert not hasattr(loops, "produkt") and not hasattr(loops.product, "x") and not hasattr(loops, "_ipython_x")
    assert getattr(loops, "x", 3) == 3
    assert "product" in dir(loops) and "k" in dir(loops.product) and "C" in dir(allo.customize(gemm))
    with pytest.raises(AttributeError) as missing:
        _ = loops.produkt
    assert str(missing.value) == "function 'gemm' has no loop nest 'produkt'\n  hint: did you mean 'product'?"
    with pytest.raises(ScheduleError):
        _ = loops["produkt"]


def test_trees_are_taken_by_name_only() -> None:
    loops = allo.customize(gemm).get_loops()
    assert refusal(lambda: loops[0]) == (
        "a loop nest of function 'gemm' is taken by its name, got 0\nits nests are product"
    )
    assert refusal(lambda: loops.product[1, 2]) == (
        "a loop of nest 'product' is taken by its name, got (1, 2)\nits loops are i, j, k"
    )


def test_a_name_that_is_neither_primitive_nor_buffer_has_one_hint() -> None:
    with pytest.raises(AttributeError) as missing:
        _ = allo.customize(gemm).splt
    assert str(missing.value) == "the schedule of 'gemm' has no primitive and no buffer 'splt'; did you mean 'split'?"
    assert missing.value.name == "splt" and missing.value.obj is None  # Python would add a hint of its own


def test_handles_of_another_schedule_say_so() -> None:
    s, other = allo.customize(gemm), allo.customize(scale)
    told = "the {} is of another schedule: that of 'gemm' has no function 'scale'\n"
    told += "give handles of the same schedule; s.compose(...) joins schedules of kernels and callers"
    loops = other.get_loops()
    assert refusal(lambda: s.split(loops.rows.i, 2)) == f"split: {told.format("loop 'scale:rows.i'")}"
    assert refusal(lambda: s.reorder("i", loops.rows.i)) == f"reorder: {told.format("loop 'scale:rows.i'")}"
    assert refusal(lambda: s.unfold(loops.rows)) == f"unfold: {told.format("loop nest 'scale:rows'")}"
    assert refusal(lambda: s.buffer_at(other.A, "i")) == f"buffer_at: {told.format("buffer 'scale:A'")}"
    assert not s.steps


def test_a_replay_names_the_step_and_the_reason() -> None:
    s, other = allo.customize(gemm), allo.customize(scale)
    _, inner = other.split("i", 2)
    other.pipeline(inner)
    for steps in (other.steps, str(other.steps)):
        assert refusal(lambda steps=steps: s.replay(steps)) == (
            "split: function 'gemm' has no loop nest 'rows'\n"
            'this is step 0 of the replay (the first is 0): s.split("scale:rows.i", factor=2)\n'
            "its loop nests are product"
        )
    assert not s.steps


def test_what_a_step_replaced_names_the_step() -> None:
    s = allo.customize(gemm)
    s.pipeline("k")
    s.fuse("i", "j")
    assert refusal(lambda: s.replay('s.unroll("gemm:product.j", factor=2)')) == (
        "unroll: there is no loop 'gemm:product.j' any more: "
        'step 1, s.fuse("gemm:product.i", "gemm:product.j"), replaced it\n'
        "'j' was replaced here\n"
        'this is step 0 of the replay (the first is 0): s.unroll("gemm:product.j", factor=2)\n'
        "the loops of the nest are now i_j_fused, k"
    )


def doubled_twice(A: float32[8], B: float32[8]):
    scale(A, B)
    scale(B, A)


def test_what_was_in_a_function_that_is_gone_names_the_step() -> None:
    s = allo.customize(doubled_twice)
    rows, buffer = s.get_loops("scale").rows, s.buffers["scale:B"]
    s.inline("scale")
    told = "any more: step 0, s.inline(\"scale\"), replaced it\n'{}' was replaced here\n"
    told += "there is no function 'scale' any more: see s.get_loops()"
    assert refusal(lambda: s.unroll(rows.i)) == f"unroll: there is no loop 'scale:rows.i' {told.format('i')}"
    assert refusal(lambda: s.unfold(rows)) == f"unfold: there is no loop nest 'scale:rows' {told.format('rows')}"
    assert refusal(lambda: s.partition(buffer)) == f"partition: there is no buffer 'scale:B' {told.format('B')}"
