"""Processing elements, of which one of each class is called while a module is rewritten: nothing else is different."""

# ruff: noqa: B007, F821 - in a kernel, `A: T[N]` declares an array; tasks are compiled where they stand

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.backend import unrolled as unrolled_module
from allo.backend.instantiate import FoldedNests, folded, instantiate
from allo.errors import InternalError
from allo.ir.access import callee_name
from allo.ir.module import Module
from allo.ir.types import Stream, float32, index, int8, int32
from allo.ir.walk import entry_block, operations
from allo.library import systolic as library
from allo.target import load_target
from tests.backend.rtl import test_flows as flows
from tests.customize import test_separate as separated
from tests.programs.test_systolic import systolic as unfolded

N = 4


def region() -> allo.Schedule:
    s = df.customize(flows.systolic)
    flows.steps_of_systolic(s)
    return s


def edges() -> allo.Schedule:
    """Elements at the edges do other things, and two functions have names that are no words."""
    s = df.customize(separated.systolic)
    s.partition("systolic:A", dim=1)
    s.partition("systolic:B", dim=2)
    s.partition("systolic:C")
    s.pipeline("gemm[0, :]:k", initiation_interval=2)
    s.pipeline("gemm[1, 1]:k")
    return s


def relayed() -> allo.Schedule:
    s = unfolded(3, N, 5)
    s.pipeline("k")
    s.dataflow("gemm")
    return s


def kept_weights() -> allo.Schedule:
    s = allo.customize(library.weight_stationary_tile, instantiate=[int8, int8, int32, 5, 3, N])
    return library.schedule_weight_stationary_tile(s)


def sums(A: float32[N, 8], B: float32[N]):
    for i in range(N, name="PE"):
        total: float32 = 0
        for k in range(8):
            total += A[i, k]
        B[i] = total


def without_streams() -> allo.Schedule:
    s = allo.customize(sums)
    s.unfold("PE", axes=[0])
    s.partition("sums:A", dim=1)
    s.partition("sums:B")
    s.pipeline("k")
    s.dataflow("sums")
    return s


def scaled(A: int32[6, N], B: int32[6, N]):
    for t in range(6, name="time"):
        for i in range(N, name="PE"):
            B[t, i] = A[t, i] * 3 + i


def in_a_loop() -> allo.Schedule:
    s = allo.customize(scaled)
    s.unfold("PE", axes=[0])
    s.partition("scaled:A", dim=2)
    s.partition("scaled:B", dim=2)
    return s


def rounds(A: int32[6, N], B: int32[6, N]):
    for t in range(6, name="time"):
        for i in range(N, name="PE"):
            total: int32 = 0
            for k in range(5):
                total += A[t, i] * k
            B[t, i] = total


def elements_in_a_loop() -> allo.Schedule:
    s = allo.customize(rounds)
    s.unfold("PE", axes=[0])
    s.partition("rounds:A", dim=2)
    s.partition("rounds:B", dim=2)
    return s


@df.region()
def line(A: int32[8], B: int32[8]):
    pipe: Stream[int32, 2][N + 1]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[8]):
        for k in range(8):
            pipe[N].put(A[k])

    @df.kernel(mapping=[N])
    def part():
        p = df.get_pid()
        for k in range(8):
            pipe[N - 1 - p].put(pipe[N - p].get() + 1)

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[8]):
        for k in range(8):
            B[k] = pipe[0].get()


def backwards() -> allo.Schedule:
    """The last element uses the first FIFO."""
    return df.customize(line)


def row(A: int32[N, 8], B: int32[N, N], p: index):
    for i in range(N, name="PE"):
        total: int32 = 0
        for k in range(8):
            total += A[p, k] * (i + 1)
        B[p, i] = total


def rows(A: int32[N, 8], B: int32[N, N]):
    for p in range(N, name="T"):
        row(A, B, p)


def elements_of_elements() -> allo.Schedule:
    """The elements of one nest become parts of those of the other, all of them."""
    s = allo.customize(rows)
    s.unfold("row:PE", axes=[0])
    s.unfold("T", axes=[0])
    s.partition("rows:A", dim=1)
    s.partition("rows:B")
    return s


def calls(module: Module) -> list[str]:
    """The functions that are called, in the order of the text."""
    entries = [entry_block(function) for function in module.functions()]
    return [callee_name(op) for entry in entries if entry is not None for op in operations(entry, "func.call")]


@pytest.mark.parametrize(
    ("schedule", "few", "many"),
    [(region, 6, 8), (edges, 8, 16), (relayed, 4, 12), (kept_weights, 2, 12), (without_streams, 1, N),
     (in_a_loop, N, N), (elements_in_a_loop, N, N),
     (elements_of_elements, 1, N), (backwards, 3, N + 2)],
)  # fmt: skip
def test_hardware_is_that_of_all_calls(
    monkeypatch: pytest.MonkeyPatch, schedule: Any, few: int, many: int
) -> None:
    s = schedule()
    banks = unrolled_module._bank_memory(load_target("u280"))
    nests, whole = folded(s.ir, banks), instantiate(s.ir, banks)
    assert (len(calls(nests.module)), len(calls(whole))) == (few, many)
    own = nests.module.clone()
    nests.unfold(own)
    own.verify()
    assert calls(own) == calls(whole)
    made = s.build(target="rtl")
    monkeypatch.setattr(unrolled_module, "folded", lambda module, banks: FoldedNests(instantiate(module, banks), []))
    other = s.build(target="rtl")
    assert (made.code, made.predicted_cycles) == (other.code, other.predicted_cycles)


def test_functions_that_hold_nests_may_get_other_names() -> None:
    module = relayed().ir
    text = str(module).replace("@gemm", '@"gemm[0, :]"').replace('allo.top = "gemm"', 'allo.top = "gemm[0, :]"')
    nests = folded(Module.parse(text))
    nests.unfold(nests.module)
    assert [nest.caller for nest in nests.nests] == ["gemm_0_to"]
    assert calls(nests.module) == calls(instantiate(module))


def test_rewriting_sees_one_element_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """So what it does grows with the text of a program, not with the number of elements."""
    seen: list[int] = []
    prepared = unrolled_module.prepared

    def counted(module: Module, *options: Any, **named: Any) -> Any:
        seen.append(len(calls(module)))
        return prepared(module, *options, **named)

    monkeypatch.setattr(unrolled_module, "prepared", counted)
    for size in (3, 9):
        s = unfolded(size, size, 5)
        s.dataflow("gemm")
        s.build(target="rtl")
    assert len(seen) >= 6 and set(seen) == {4}


def test_arrays_of_other_types_are_no_arrays_of_the_elements() -> None:
    """Rewrites keep the arrays that elements take parts of; if one did not, nothing would be connected in silence."""
    nests = folded(relayed().ir)
    (nest,) = nests.nests
    other = FoldedNests(nests.module, [replace(nest, kinds=[nest.kinds[-1]] * len(nest.kinds))])
    with pytest.raises(InternalError, match="nest 'PE' passes parts of no array of type"):
        other.unfold(nests.module)
