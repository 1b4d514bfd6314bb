"""Stages that overlap: FIFOs, arrays that are passed on, processing elements."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import allo
from allo.ir.types import float32
from allo.timing.control.span import Ends, Event, Span, Stream, alternatives, repeated, sequence
from allo.timing.control.stages import stages
from allo.timing.control.timeline import PartName


def produce(A: float32[256], T: float32[256]):
    for i in range(256):
        T[i] = A[i] * 2.0


def consume(T: float32[256], B: float32[256]):
    for j in range(256):
        B[j] = T[j] + 1.0


def both(A: float32[256], B: float32[256]):
    T: float32[256]
    produce(A, T)
    consume(T, B)


def pipelined() -> allo.Schedule:
    s = allo.customize(both)
    s.pipeline("produce:i")
    s.pipeline("consume:j")
    return s


def lengths(found: allo.Estimate) -> dict[str, int]:
    return {function.name: function.latency or 0 for function in found.functions}


def test_functions_run_one_after_the_other() -> None:
    found = allo.estimate(pipelined())
    assert found.cycles == sum(v + 1 for name, v in lengths(found).items() if name != "both")


def test_arrays_are_passed_on_when_complete() -> None:
    s = pipelined()
    before = allo.estimate(s)
    s.dataflow("both")
    found = allo.estimate(s)
    assert found.cycles == before.cycles  # of one call
    assert found.kernel.interval is not None and found.kernel.interval < 300  # of several
    assert found.bram18 == 2 * before.bram18


def test_fifos_let_stages_overlap() -> None:
    s = pipelined()
    s.relay(s.T, "consume", depth=2)
    s.dataflow("both")
    found = allo.estimate(s)
    slowest = max(v for name, v in lengths(found).items() if name != "both")
    assert found.cycles is not None and slowest < found.cycles < slowest + 20


def test_a_slow_producer_sets_the_pace() -> None:
    s = allo.customize(both)
    s.pipeline("produce:i", initiation_interval=5)
    s.pipeline("consume:j")
    s.relay(s.T, "consume", depth=2)
    s.dataflow("both")
    found = allo.estimate(s)
    assert found.cycles is not None and 255 * 5 < found.cycles < 255 * 5 + 40


def test_stages_have_their_own_units() -> None:
    def add(A: float32[64], B: float32[64], C: float32[64]):
        for i in range(64):
            B[i] = A[i] + 1.0
        for j in range(64):
            C[j] = A[j] + 2.0

    s = allo.customize(add)
    assert allo.estimate(s).dsp == 2
    s.dataflow("add")
    assert allo.estimate(s).dsp == 4


def test_how_often_a_stream_is_used() -> None:
    """In turn: as often as both; in branches: as often as each, if that is equal and one of them surely runs."""
    stream: Any = ("a stream", ())

    def part(count: int) -> Span:
        return Span(Fraction(9), ends=Ends({stream: Event(Fraction(1), Fraction(1), Fraction(count))}))

    def count(span: Span) -> Fraction | None:
        return span.ends.puts[stream].count

    assert count(sequence([part(3), part(4)])) == 7
    assert count(alternatives([part(3), part(3)])) == 3
    assert count(alternatives([part(3), part(4)])) is None
    assert count(alternatives([part(3)])) is None
    assert count(alternatives([part(3), Span(Fraction(2))])) is None
    assert count(repeated(part(3), Fraction(5), 1, 1)) == 15
    assert count(repeated(part(3), None, 1, 1)) is None


def test_values_in_a_circle_begin_with_the_text() -> None:
    """Each waits for the other one: what is first in the text starts, and depths are not judged."""
    one, other = cast("list[Stream]", [(Declared(), ()), (Declared(), ())])
    event = Event(Fraction(2), Fraction(3), Fraction(8))
    parts = [Span(Fraction(20), ends=Ends({one: event}, {other: event})),
             Span(Fraction(30), ends=Ends({other: event}, {one: event}))]  # fmt: skip
    found = stages(parts, [PartName("first"), PartName("second")])
    assert (found.span.latency, found.slowest, found.notes) == (31, "second", ())


class Declared:
    """A stream that is in no module."""

    type = "!allo.stream<f32, 1>"
    owner = SimpleNamespace(operation=SimpleNamespace(attributes={}))


def systolic(A: float32[4, 16], B: float32[16, 4], C: float32[4, 4]):
    for i, j in allo.grid(4, 4, name="PE"):
        total: float32 = 0.0
        for k in range(16):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def test_processing_elements_are_copies() -> None:
    s = allo.customize(systolic)
    s.pipeline("k")
    one = allo.estimate(s)
    s.unfold("PE", axes=[0, 1])
    found = allo.estimate(s)
    assert found.dsp == 16 * one.dsp
    assert found.cycles is not None and one.cycles is not None and found.cycles * 8 < one.cycles


def test_processing_elements_wait_for_their_neighbours() -> None:
    s = allo.customize(systolic)
    s.pipeline("k")
    buffer_a, buffer_b = s.buffer_at("A", "j"), s.buffer_at("B", "j")
    elements = s.unfold("PE", axes=[0, 1])
    free = allo.estimate(s).loop("PE.i").latency or 0
    s.relay(buffer_a, elements, axis=1, depth=4)
    s.relay(buffer_b, elements, axis=0, depth=4)
    s.dataflow("systolic")
    found = allo.estimate(s).loop("PE.i")
    assert found.latency is not None and 0 < found.latency < free + 20
