"""FIFO accesses under conditions, against a model that runs all iterations and passes on every element."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

import allo
from allo.ir.types import float32
from allo.ir.walk import string_of
from allo.target import load_target
from allo.timing.control.build import TreeOptions
from allo.timing.control.span import Event, Span
from allo.timing.control.spans import timelines
from allo.timing.control.trees import Trees
from tests.seeds import sweep

LOOPS = ("i", "j", "k")
TARGET = load_target("u280")


@dataclass
class Stage:
    """A perfect nest that is pipelined, and what it does under conditions on its loops, in order."""

    name: str
    extents: tuple[int, ...]
    interval: int
    uses: list[tuple[str, str, str]] = field(default_factory=list)  # put or get, stream, condition

    def text(self, depths: dict[str, int]) -> str:
        """The stage as a function of a module."""
        loops = LOOPS[: len(self.extents)]
        streams = dict.fromkeys(stream for _, stream, _ in self.uses)
        types = [f"%{s}: !allo.stream<f32, {depths[s]}>" for s in streams]
        lines = [f"func.func @{self.name}(%A: memref<{self.extents[-1]}xf32>, {', '.join(types)}) {{"]
        lines += ["%x = arith.constant 1.0 : f32"]
        lines += [f"affine.for %{v} = 0 to {n} {{" for v, n in zip(loops, self.extents, strict=True)]
        dims = f"({', '.join(loops)})"
        given = ", ".join(f"%{loop}" for loop in loops)
        for number, (kind, stream, condition) in enumerate(self.uses):
            action = f"allo.stream_put %{stream}, %x : !allo.stream<f32, {depths[stream]}>"
            if kind == "get":
                action = f"%v{number} = allo.stream_get %{stream} : !allo.stream<f32, {depths[stream]}>\n"
                action += f"affine.store %v{number}, %A[%{loops[-1]}] : memref<{self.extents[-1]}xf32>"
            tests = condition.replace("%", "mod").replace(" and ", ", ")
            if "!=" in condition:
                lines.append(f"affine.if affine_set<{dims} : ({tests.replace('!=', '==')})>({given}) {{}} else {{")
            else:
                lines.append(f"affine.if affine_set<{dims} : ({tests})>({given}) {{")
            lines += [action, "}"]
        lines.append(f"}} {{allo.name = \"{loops[-1]}\", allo.pipeline = {self.interval} : i32}}")
        lines += [f"}} {{allo.name = \"{loop}\"}}" for loop in reversed(loops[:-1])]
        return "\n".join([*lines, "return", "}"])

    def iterations(self, number: int) -> list[int]:
        """The iterations in which use `number` happens."""
        names = LOOPS[: len(self.extents)]
        points = enumerate(product(*map(range, self.extents)))
        condition = compile(self.uses[number][2], "<condition>", "eval")
        return [n for n, point in points if eval(condition, dict(zip(names, point, strict=True)))]

    def tokens(self, starts: list[int]) -> Iterator[tuple[float, float, str, str]]:
        """The cycle of each iteration that uses a stream, the cycles from there to the use, and what it does."""
        around = TARGET.control.call + TARGET.control.pipelined_loop // 2
        for number, (kind, stream, _) in enumerate(self.uses):
            for n in self.iterations(number):
                yield around + n * self.interval, starts[number], kind, stream


def executed(stages: list[list[tuple[float, float, str, str]]], lengths: list[float], depths: dict[str, int]) -> float:
    """The cycles of stages that wait, element by element, where a FIFO is empty or full."""
    puts: dict[str, list[float]] = {stream: [] for stream in depths}
    gets: dict[str, list[float]] = {stream: [] for stream in depths}
    late = [0.0] * len(stages)
    place = [0] * len(stages)
    for stage in stages:
        stage.sort(key=lambda token: token[0])
    moved = True
    while moved:
        moved = False
        for n, stage in enumerate(stages):
            while place[n] < len(stage):
                start, lag, kind, stream = stage[place[n]]
                own, others = (puts, gets) if kind == "put" else (gets, puts)
                needed = len(own[stream]) - (depths[stream] if kind == "put" else 0)
                if needed >= len(others[stream]):
                    break
                ready = others[stream][needed] + 1 - lag if needed >= 0 else 0.0
                late[n] = max(late[n], ready - start)
                own[stream].append(start + late[n] + lag)
                place[n] += 1
                moved = True
    assert all(at == len(stage) for at, stage in zip(place, stages, strict=True)), "it hangs"
    return max(length + delay for length, delay in zip(lengths, late, strict=True))


def conditions(choose: random.Random, extents: tuple[int, ...]) -> str:
    """An affine condition on the loops of a nest."""
    names = LOOPS[: len(extents)]
    name, extent = choose.choice(list(zip(names, extents, strict=True)))
    other = choose.choice(names)
    return choose.choice([
        f"{name} == {extent - 1}", f"{name} == {choose.randrange(extent)}", f"{name} >= {choose.randrange(extent)}",
        f"{name} <= {choose.randrange(extent)}", f"{name} <= {other}", f"{name} % {choose.choice([2, 3])} == 0",
        f"{name} + {other} >= {extent // 2}", f"{name} != {choose.randrange(extent)}",
    ])  # fmt: skip


def random_design(seed: int, scale: int = 1) -> tuple[list[Stage], dict[str, int]]:
    """Two or three stages in a row, with two uses of a stream in some of them."""
    choose = random.Random(seed)
    count = choose.choice([2, 2, 3])
    stages: list[Stage] = []
    passed = 0
    for n in range(count):
        rank = choose.choice([1, 2, 3])
        extents = tuple(scale * choose.choice([[24], [6, 8], [4, 5, 6]][rank - 1]) for _ in range(rank))
        stage = Stage(f"s{n}", extents, choose.choice([1, 1, 2, 5]))
        if n:  # as many elements as come: in a nest that is long enough, from some iteration on
            size = passed * choose.choice([1, 2, 3])
            first = choose.randrange(size - passed + 1)
            stage.extents = (size,)
            where = f"i >= {first}" if first + passed == size else f"i >= {first} and i <= {first + passed - 1}"
            stage.uses.append(("get", f"T{n - 1}", where))
        if n < count - 1:
            stage.uses.append(("put", f"T{n}", conditions(choose, stage.extents)))
            passed = len(stage.iterations(len(stage.uses) - 1))
            if not passed:
                return random_design(seed + 10_000, scale)
        stages.append(stage)
    return stages, {f"T{n}": choose.choice([1, 2, 2, 4, 8, 32]) for n in range(count - 1)}


def design(stages: list[Stage], depths: dict[str, int]) -> allo.Schedule:
    arrays = ", ".join(f"%A{n}: memref<{stage.extents[-1]}xf32>" for n, stage in enumerate(stages))
    body = [f'%{s} = allo.stream_create {{allo.name = "{s}"}} : !allo.stream<f32, {d}>' for s, d in depths.items()]
    for n, stage in enumerate(stages):
        streams = dict.fromkeys(s for _, s, _ in stage.uses)
        types = [f"memref<{stage.extents[-1]}xf32>", *(f"!allo.stream<f32, {depths[s]}>" for s in streams)]
        given = ", ".join([f"%A{n}", *(f"%{s}" for s in streams)])
        body.append(f"func.call @{stage.name}({given}) : ({', '.join(types)}) -> ()")
    top = [f"func.func @top({arrays}) attributes {{allo.dataflow}} {{", *body, "return", "}"]
    return allo.Schedule.from_mlir("\n".join([*(stage.text(depths) for stage in stages), *top]))


def events_of(part: Span, kind: str) -> dict[str, Event]:
    events = part.ends.puts if kind == "put" else part.ends.gets
    return {str(string_of(stream[0].owner, "allo.name")): event for stream, event in events.items()}


def check(stages: list[Stage], depths: dict[str, int]) -> tuple[float, float]:
    """The estimate and the cycles; what the events of stages say is compared with all iterations."""
    trees = Trees(design(stages, depths).ir, TreeOptions(TARGET))
    whole = trees.span("top").latency
    spans = trees.spans["top"]
    assert whole is not None
    tokens = []
    for stage, part in zip(stages, spans.parts, strict=True):
        starts = [int(events_of(part, kind)[stream].lag) for kind, stream, _ in stage.uses]
        tokens.append(list(stage.tokens(starts)))
        for kind in ("put", "get"):
            for stream, event in events_of(part, kind).items():
                own = sorted(start + lag for start, lag, k, s in tokens[-1] if (k, s) == (kind, stream))
                assert (event.first, event.count) == (own[0], len(own)), (stage, kind)
                assert abs(float((part.latency or 0) - event.tail) - own[-1]) <= 1, (stage, kind)
    for part, timed in zip(spans.parts, next(timelines(spans)).parts, strict=True):
        assert timed.begin is not None and timed.end is not None and part.latency is not None
        stalls = sum(stall.cycles for stall in timed.stalls)
        assert all(stall.kind in ("empty", "full", "array") and stall.name for stall in timed.stalls)
        assert abs(timed.end - timed.begin - part.latency - stalls) <= 2 + len(timed.stalls), timed
    return float(whole), executed(tokens, [float(part.latency or 0) for part in spans.parts], depths)


@sweep(324, quick=8)
def test_no_estimate_of_guarded_fifos_is_too_low(seed: int) -> None:
    found, needed = check(*random_design(seed, 1 + seed % 4))
    assert needed <= found <= 1.001 * needed + 1


M, K = 32, 8


def summed(A: float32[K, M], S: float32[M]):
    total: float32[M] = 0.0
    for k in range(K):
        scale: float32 = A[k, 0]
        for i in range(M):
            total[i] += A[k, i] * scale
            if k == K - 1:
                S[i] = total[i]


def slow(S: float32[M], B: float32[M]):
    for i in range(M):
        B[i] = S[i] * 2.0


def summed_slow(A: float32[K, M], B: float32[M]):
    S: float32[M]
    summed(A, S)
    slow(S, B)


def test_the_last_of_sequential_iterations() -> None:
    """What happens in the last iteration of a loop whose iterations do not overlap begins when these have passed."""
    s = allo.customize(summed_slow)
    s.pipeline("summed:i")
    s.pipeline("slow:i", initiation_interval=20)
    s.relay("summed_slow:S", "slow", depth=2)
    s.dataflow("summed_slow")
    estimate = allo.estimate(s)
    first, second = (one.latency or 0 for one in estimate.functions if one.name != "summed_slow")
    assert estimate.cycles is not None
    assert first * (K - 1) / K + second - 20 <= estimate.cycles <= first + second


CALLED = """
func.func @inner(%S: !allo.stream<f32, 2>) {
  %x = arith.constant 1.0 : f32
  affine.for %i = 0 to 16 {
    allo.stream_put %S, %x : !allo.stream<f32, 2>
  } {allo.name = "i", allo.pipeline = 3 : i32}
  return
}
func.func @outer(%S: !allo.stream<f32, 2>) {
  affine.for %t = 0 to 5 {
    affine.if affine_set<(t) : (t >= 2, 3 - t >= 0)>(%t) {
      func.call @inner(%S) : (!allo.stream<f32, 2>) -> ()
    }
  } {allo.name = "t"}
  return
}
func.func @taking(%S: !allo.stream<f32, 2>, %A: memref<32xf32>) {
  affine.for %i = 0 to 32 {
    %x = allo.stream_get %S : !allo.stream<f32, 2>
    affine.store %x, %A[%i] : memref<32xf32>
  } {allo.name = "i", allo.pipeline = 4 : i32}
  return
}
func.func @top(%A: memref<32xf32> {allo.name = "A"}) attributes {allo.dataflow} {
  %S = allo.stream_create {allo.name = "S"} : !allo.stream<f32, 2>
  func.call @outer(%S) : (!allo.stream<f32, 2>) -> ()
  func.call @taking(%S, %A) : (!allo.stream<f32, 2>, memref<32xf32>) -> ()
  return
}
"""


def test_calls_under_conditions() -> None:
    trees = Trees(allo.Schedule.from_mlir(CALLED).ir, TreeOptions(TARGET))
    whole = trees.span("top").latency
    spans = trees.spans["top"]
    inner, outer = trees.span("inner").latency, trees.span("outer").latency
    assert whole is not None and inner is not None and outer is not None
    (event,) = spans.parts[0].ends.puts.values()
    assert event.count == 32 and event.times is not None
    idle = TARGET.control.iteration  # the cycles of an iteration without a call, and of one with it
    taken = (outer - TARGET.control.loop - 3 * idle) / 2
    assert 2 * idle < event.first < 2 * idle + 10 and idle < event.tail < idle + 10
    assert event.times[16] - event.times[0] == taken > inner and event.times[15] == 45
    assert whole >= event.first + 32 * 4


AROUND = (
    CALLED.replace("affine.for %t", "affine.for %u = 0 to 3 {\n    affine.for %t")
    .replace('{allo.name = "t"}', '{allo.name = "t"}\n  } {allo.name = "u"}')
    .replace("<32x", "<96x").replace("to 32", "to 96")
)  # fmt: skip
LATE = ("t >= 2, 3 - t >= 0", "t - 3 >= 0")


@pytest.mark.parametrize(
    "text",
    [CALLED, CALLED.replace(*LATE), AROUND, AROUND.replace(*LATE)],
    ids=["once", "at the end", "in turn", "both"],
)
def test_calls_under_conditions_put_when_they_run(text: str) -> None:
    """In all, with what waits for them, it is what the simulator counts."""
    schedule = allo.Schedule.from_mlir(text)
    timed = schedule.build(target="simulator", timed="u280")
    timed(np.zeros(96 if "96xf32" in text else 32, np.float32))
    assert timed.timing.cycles == Trees(schedule.ir, TreeOptions(TARGET)).span("top").latency
