"""Loops that steps have made run on CPUs in the order of the schedule; nests without steps may be permuted."""

from collections.abc import Callable
from itertools import takewhile

import pytest
from mlir import ir

import allo
from allo.backend.cpu.pipeline import PIPELINE
from allo.ir.passes import run_passes
from allo.ir.types import float32, int32
from allo.ir.walk import loops_of

N = 32
LOCALITY = "allo-cpu-locality"


def product(A: float32[N, N], B: float32[N, N], C: float32[N, N]):
    for i, j, k in allo.grid(N, N, N, name="mul"):
        C[i, j] += A[i, k] * B[k, j]


def caller(A: float32[N, N], B: float32[N, N], C: float32[N, N]):
    product(A, B, C)


def transposed(A: int32[N, N], B: int32[N, N], C: int32[N, N]):
    for i, j in allo.grid(N, N, name="one"):
        B[j, i] = A[j, i] + 1
    for j, i in allo.grid(N, N, name="two"):
        C[i, j] = A[i, j] + 2


def chain(A: int32[N, N], B: int32[N, N], C: int32[N, N]):
    for i, j in allo.grid(N, N, name="first"):
        B[j, i] = A[j, i] + 1
    for i, j in allo.grid(N, N, name="second"):
        C[j, i] = B[j, i] * 2


def stencil(A: int32[N, N], B: int32[N, N]):
    for i in range(1, N - 1):
        for j in range(N):
            B[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]


def repeated(A: int32[N, N], B: int32[N, N]):
    t: int32 = 0
    while t < 3:
        for i in range(N):
            for j in range(N):
                B[j, i] += A[j, i]
        t += 1


def compiled(s: allo.Schedule, function: str | None = None) -> list[tuple[str, int, str]]:
    """The nests, depths and names of loops of a function behind the pass that orders them for a CPU."""
    module = s.ir.clone()
    before = [*takewhile(lambda step: step.name != LOCALITY, PIPELINE)]
    passes = [*before, next(step for step in PIPELINE if step.name == LOCALITY)]
    run_passes(f"builtin.module({','.join(map(str, passes))})", module.mlir.operation)
    return loops_in(module.function(function or s.top_func_name))


def written(s: allo.Schedule, function: str | None = None) -> list[tuple[str, int, str]]:
    return loops_in(s.ir.function(function or s.top_func_name))


def loops_in(function: ir.OpView) -> list[tuple[str, int, str]]:
    return [(v.nest, len(v.chain), v.name) for v in loops_of(function)]


def is_marked(s: allo.Schedule) -> bool:
    return "allo.scheduled" in str(s.module)


@pytest.mark.parametrize("kernel", [product, transposed, chain, repeated])
def test_an_unscheduled_nest_is_permuted(kernel: Callable[..., None]) -> None:
    s = allo.customize(kernel)
    assert compiled(s) != written(s)
    assert not is_marked(s)


@pytest.mark.parametrize("order", ["j i k", "k j i", "i k j", "j k i"])
def test_the_order_of_a_schedule_stays(order: str) -> None:
    s = allo.customize(product)
    s.reorder(*order.split())
    assert compiled(s) == written(s) == [("mul", k, name) for k, name in enumerate(order.split(), 1)]


STEPS: dict[str, tuple[Callable[..., None], Callable[[allo.Schedule], object]]] = {
    "split": (product, lambda s: s.split("k", 4)),
    "fuse": (product, lambda s: s.fuse("i", "j")),
    "reorder": (product, lambda s: s.reorder("j", "i")),
    "skew": (transposed, lambda s: s.skew("one.i", "one.j", 1)),
    "peel": (product, lambda s: s.peel("k", front=1)),
    "compute_at": (chain, lambda s: s.compute_at("first.j", "second.j")),
    "buffer_at": (product, lambda s: s.buffer_at(s.C, "i")),
    "reuse_at": (stencil, lambda s: s.reuse_at(s.A, "i")),
    "split in a while loop": (repeated, lambda s: s.split("j", 4)),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_a_step_has_made_is_compiled_as_written(name: str) -> None:
    kernel, step = STEPS[name]
    s = allo.customize(kernel)
    step(s)
    marked = {v.nest for v in loops_of(s.ir.function(s.top_func_name)) if "allo.scheduled" in v.op.attributes}
    assert [loop for loop in compiled(s) if loop[0] in marked] == [loop for loop in written(s) if loop[0] in marked]
    assert marked


def test_other_nests_of_the_function_are_permuted() -> None:
    s = allo.customize(transposed)
    s.split("two.i", 4)
    assert [name for _, _, name in compiled(s)] == ["j", "i", "j", "i.outer", "i.inner"]


def test_a_nest_may_become_what_another_one_is() -> None:
    s = allo.customize(transposed)
    s.reorder("one.j", "one.i")
    s.reorder("one.i", "one.j")
    s.reorder("two.i", "two.j")
    assert [name for _, _, name in compiled(s)] == ["i", "j", "i", "j"]


def test_steps_that_name_no_loop_and_annotations_leave_the_order_to_us() -> None:
    s = allo.customize(caller)
    s.partition("product:A", dim=1, factor=2)
    s.inline("product")
    assert not is_marked(s)
    assert compiled(s) != written(s)
    s.pipeline("k")
    s.reorder("i", "j", "k")
    assert not is_marked(s)


def test_a_mark_goes_with_its_loops() -> None:
    s = allo.customize(caller)
    s.reorder("product:j", "product:i")
    s.inline("product")
    assert compiled(s) == written(s)
    again = allo.Schedule.from_mlir(str(s.module))
    assert is_marked(again) and compiled(again) == written(s)
    assert compiled(allo.Schedule.from_mlir(s.to_mlir())) == written(s)


def test_one_mark_a_nest() -> None:
    s = allo.customize(product)
    s.reorder("j", "i")
    s.reorder("k", "j")
    s.split("i", 2)
    assert str(s.module).count("allo.scheduled") == 1


def test_a_composed_step_marks_as_in_its_part() -> None:
    part, s = allo.customize(product), allo.customize(caller)
    part.reorder("j", "i")
    s.compose(part)
    assert compiled(s, "product") == written(s, "product") == compiled(part)
    s.undo()
    assert not is_marked(s)
