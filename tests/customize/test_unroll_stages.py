"""unroll_stages: the slowest stage is as fast as DSPs allow, and all means the same."""

# ruff: noqa: F821 - kernels declare arrays without a value

import random
from itertools import product

import numpy as np
import pytest

import allo
from allo import Schedule, TargetError, customize
from allo.customize.fifo.balance import within_budget
from allo.customize.nest.unrolling import Option, StageOptions, UnrollPlan, balanced
from allo.customize.step.handles import FifoName
from allo.ir.types import float32, int32
from tests.backend.hls.cpp_programs import needs_compiler
from tests.seeds import sweep

from .checks import assert_faithful, assert_ir, assert_refused


def layers(A: float32[4, 16], W: float32[16, 16], V: float32[16, 64], B: float32[4, 64]):
    X: float32[4, 16]
    for i, j in allo.grid(4, 16, name="scale"):
        X[i, j] = A[i, j] * 2.0
    Y: float32[4, 16]
    for i, j in allo.grid(4, 16, name="zeros"):
        Y[i, j] = 0.0
    for i, k, j in allo.grid(4, 16, 16, name="first"):
        Y[i, j] += X[i, k] * W[k, j]
    Z: float32[4, 64]
    for i, j in allo.grid(4, 64, name="more_zeros"):
        Z[i, j] = 0.0
    for i, k, j in allo.grid(4, 16, 64, name="second"):
        Z[i, j] += Y[i, k] * V[k, j]
    for i, j in allo.grid(4, 64, name="store"):
        B[i, j] = max(Z[i, j], 0.0)


def streaming() -> Schedule:
    s = customize(layers)
    s.fuse_streams("layers")
    return s


def divided(s: Schedule, dsp: int, objective: str = "interval") -> UnrollPlan:
    plan = s.unroll_stages("layers", dsp=dsp, objective=objective)
    for bank in plan.banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    return plan


def test_golden() -> None:
    s = streaming()
    plan = divided(s, 40)
    assert str(plan) == PLAN
    text = s.pseudocode()
    assert text[text.index("    for i in range(4, name=\"second\")") :].splitlines()[:14] == SECOND.splitlines()
    assert allo.verify(customize(layers), s)


def test_it_is_said_why_there_are_no_larger_factors() -> None:
    def halves(A: float32[64, 2], B: float32[64, 2]):
        for i, j in allo.grid(64, 2, name="halve"):
            B[i, j] = A[i, j] * 0.5

    halve, = customize(halves).unroll_stages("halves", dsp=100).stages
    assert (halve.chosen.factor, halve.limit) == (2, "its inner loops have no greater common factor")


PLAN = """\
slowest stage 1,261 cycles, 5,749 before; 33 of 40 DSP on u280, estimated
stage   before  factor  cycles  DSP  no more, since
------  ------  ------  ------  ---  -------------------------------------------------
scale   73      1       73      3
first   2,293   2       685     10   a sum is there after 8 cycles, and needed after 4
second  5,749   4       1,261   20
store   262     1       262     0
2 elements a cycle through layers:fifo_Y
4 elements a cycle through layers:fifo_Z"""

SECOND = """\
    for i in range(4, name="second"):
        buf_Z: float32[64] @ partition<[cyclic 4]>
        for j_1.outer in range(16):  # pipeline=1
            for j_1.inner in range(4):  # unroll=0
                buf_Z[4 * j_1.outer + j_1.inner] = 0.0
        j_value_1: float32
        for k in range(16):
            for j.outer in range(16):  # pipeline=1
                if j.outer == 0:
                    t_2 = fifo_Y[k % 2].get()
                    j_value_1 = t_2
                t_3 = j_value_1
                for j.inner in range(4):  # unroll=0
                    buf_Z[4 * j.outer + j.inner] += t_3 * V[k, 4 * j.outer + j.inner]"""


@pytest.mark.parametrize("dsp", [20, 60])
def test_plan_is_the_estimate(dsp: int) -> None:
    """Cycles and DSPs of the plan are those that the estimator finds in what the plan has made."""
    s = streaming()
    plan = divided(s, dsp)
    found = allo.estimate(s)
    assert found.dsp == plan.dsp <= dsp
    by_nest = {loop.nest: loop.latency for loop in found.loops if loop.level == 0}
    for stage in plan.stages:
        assert by_nest[stage.name] == pytest.approx(stage.chosen.cycles, abs=2)


def test_growing_budgets() -> None:
    cycles = [streaming().unroll_stages("layers", dsp=dsp).cycles for dsp in (13, 60)]
    assert cycles == sorted(cycles, reverse=True) and cycles[-1] * 2 < cycles[0]


@sweep(6, quick=2)
def test_best_of_all(seed: int) -> None:
    """No other choice is faster within the budget, and none as fast is cheaper."""
    rng = random.Random(seed)
    for _ in range(20):
        stages = []
        for n in range(rng.randint(1, 5)):
            cycles, dsp, options = rng.randint(50, 1000), rng.randint(0, 5), []
            for factor in range(1, rng.randint(2, 5)):
                options.append(Option(factor, cycles, dsp))
                cycles, dsp = max(1, cycles - rng.randint(1, 200)), dsp + rng.randint(0, 6)
            stages.append(StageOptions(str(n), tuple(options), ""))
        budget = sum(min(o.dsp for o in stage.options) for stage in stages) + rng.randint(0, 20)
        found = balanced(stages, budget)
        choices = product(*(stage.options for stage in stages))
        tried = [(max(o.cycles for o in one), sum(o.dsp for o in one)) for one in choices]
        assert (max(o.cycles for o in found), sum(o.dsp for o in found)) == min(t for t in tried if t[1] <= budget)


class Doubled:
    """A stage whose loops, as wide as those at the other ends of its FIFOs, take twice what was chosen."""

    name = "stage"

    def options(self, loops: object, *, tails: bool = False) -> StageOptions:
        return StageOptions("stage", tuple(Option(n, 10**6 // n, n) for n in range(1, 300)), "")

    def cost(self, copies: object, factor: int) -> Option:
        return Option(factor, 10**6 // factor, 2 * factor)


def test_wider_loops_leave_little_of_the_budget() -> None:
    """Each of the two stages may have a quarter of it."""
    for dsp, least in ((2, None), (4, 1), (9, 2), (400, 97), (2000, 299)):
        found = within_budget([Doubled(), Doubled()], [], {}, dsp, tails=False)
        if least is None:
            assert found is None
            continue
        assert found is not None
        assert all(least <= stage.chosen.factor <= dsp // 4 for stage in found[0])


@pytest.mark.parametrize("dsp", [20, 40])
def test_one_sample_is_as_fast_as_may_be(dsp: int) -> None:
    """Its latency by the estimator is shorter than with stages of one speed."""
    short, even = (streaming() for _ in range(2))
    plans = [divided(short, dsp, "latency"), divided(even, dsp, "interval")]
    assert plans[0].dsp <= dsp and plans[1].dsp <= dsp
    assert allo.estimate(short).cycles < allo.estimate(even).cycles
    assert_refused(OBJECTIVE, streaming(), "unroll_stages", "layers", 40, objective="area")


OBJECTIVE = """
unroll_stages: objective must be one of interval, latency, got 'area'
"""


def test_annotated_loops_stay() -> None:
    s = streaming()
    loop = s.get_loops("layers")["second"]["j"]
    s.pipeline(loop, initiation_interval=2)
    s.unroll_stages("layers", dsp=1000)
    assert loop not in dict(s.steps[-1].arguments)["loops"]
    assert "for j in range(64):  # pipeline=2" in s.pseudocode()


def dot(A: int32[8, 16], B: int32[8]):
    for i, j in allo.grid(8, 16, name="sum"):
        B[i] += A[i, j]


def test_sums_are_not_unrolled() -> None:
    s = customize(dot)
    plan = s.unroll_stages("dot", dsp=100)
    assert plan.stages[0].limit == "its inner loops need one another, or their streams pass no vectors"
    assert not plan.banks and not plan.widths
    assert_faithful(dot, s)


def windows(A: float32[6, 6, 16], W: float32[3, 3, 16], B: float32[4, 4, 16]):
    C: float32[6, 6, 16]
    for y, x, c in allo.grid(6, 6, 16, name="make"):
        C[y, x, c] = max(A[y, x, c], 0.0)
    D: float32[4, 4, 16]
    for y, x, c in allo.grid(4, 4, 16, name="zeros"):
        D[y, x, c] = 0.0
    for y, x, i, j, c in allo.grid(4, 4, 3, 3, 16, name="filter"):
        D[y, x, c] += C[y + i, x + j, c] * W[i, j, c]
    for y, x, c in allo.grid(4, 4, 16, name="store"):
        B[y, x, c] = max(D[y, x, c], 0.0)


def widened() -> tuple[Schedule, UnrollPlan]:
    s = customize(windows)
    s.fuse_streams("windows")
    plan = s.unroll_stages("windows", dsp=20)
    for bank in plan.banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    return s, plan


def test_vectors_out_of_a_line_buffer() -> None:
    """Windows come two elements a cycle, as many as a filter takes; what is in front and behind takes one."""
    s, plan = widened()
    assert dict(plan.widths) == WIDTHS
    text = s.pseudocode()
    begin = text.index('    for p in range(6, name="convert_C")')
    assert text[begin : text.index("    for y in range(4", begin)].splitlines() == LINES.splitlines()
    by_nest = {loop.nest: loop.latency for loop in allo.estimate(s).loops if loop.level == 0}
    for stage in plan.stages:
        assert by_nest[stage.name] == pytest.approx(stage.chosen.cycles, abs=2)
    assert_faithful(windows, s)
    assert allo.verify(customize(windows), s)


@pytest.mark.parametrize(
    "target",
    [
        "simulator",
        pytest.param("vitis_hls", marks=[needs_compiler, pytest.mark.slow]),
        pytest.param("rtl", marks=pytest.mark.slow),
    ],
)
def test_vectors_in_other_backends(target: str) -> None:
    s, _ = widened()
    random = np.random.default_rng(0)
    A, W = (random.standard_normal(shape).astype(np.float32) for shape in ((6, 6, 16), (3, 3, 16)))
    B, wanted = np.zeros((4, 4, 16), np.float32), np.zeros((4, 4, 16), np.float32)
    customize(windows).build()(A, W, wanted)
    s.build(target=target, **({"mode": "csim"} if target == "vitis_hls" else {}))(A, W, B)
    np.testing.assert_array_equal(B, wanted)


WIDTHS = {
    FifoName("windows", "fifo_C"): 2, FifoName("windows", "fifo_C_in_order"): 2, FifoName("windows", "fifo_D"): 2,
}  # fmt: skip
LINES = """\
    for p in range(6, name="convert_C"):
        for p1 in range(6):
            for x.outer in range(8):  # pipeline=1
                for x.inner in range(2):  # unroll=0
                    t_1 = fifo_C[x.inner].get()
                    C_rows[p % 3, 16 * p1 + 2 * x.outer + x.inner] = t_1
            if p >= 2 and p1 >= 2:
                for y in range(3):
                    for y1.outer in range(24):  # pipeline=1
                        for y1.inner in range(2):  # unroll=0
                            fifo_C_in_order[y1.inner].put(C_rows[p + y - 3 * ((p + y - 2) // 3) - 2, 16 * p1 + 2 * y1.outer + y1.inner - 32])"""  # noqa: E501


def test_fifos_and_widths_go_together() -> None:
    assert_refused(TOGETHER, streaming(), "unroll_stages", "layers", 40, fifos=["fifo_X"])
    assert_refused(TOGETHER, streaming(), "unroll_stages", "layers", 40, fifos=["fifo_X"], widths=[2])


TOGETHER = """
unroll_stages: fifos= and widths= are given together, a width for each FIFO, and with loops=
  hint: s.unroll_stages("f", loops=["f:j"], factors=[4], fifos=["f:fifo_C"], widths=[4])
"""


def scaled(A: int32[8, 16], B: int32[8, 16]):
    for i in range(8, name="scale"):
        t: int32 = A[i, 0]
        for j in range(16):
            B[i, j] = A[i, j] * t


def test_by_hand() -> None:
    """A register in front of a loop that the nest begins with stays; loops and factors may be given."""
    s = customize(scaled)
    assert s.unroll_stages("scaled", loops=["j"], factors=[4]) is None
    assert_faithful(scaled, s)
    assert_ir(s, SCALED)
    assert "# unroll=0" in s.pseudocode()


SCALED = """
func.func @scaled(%arg0: memref<8x16xi32> {allo.name = "A"}, %arg1: memref<8x16xi32> {allo.name = "B"}) {
  affine.for %arg2 = 0 to 8 {
    %0 = affine.load %arg0[%arg2, 0] : memref<8x16xi32>
    %alloc = memref.alloc() {allo.name = "t"} : memref<i32>
    affine.store %0, %alloc[] : memref<i32>
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 4 {
        %1 = affine.load %arg0[%arg2, %arg3 * 4 + %arg4] : memref<8x16xi32>
        %2 = arith.extsi %1 : i32 to i64
        %3 = affine.load %alloc[] : memref<i32>
        %4 = arith.extsi %3 : i32 to i64
        %5 = arith.muli %2, %4 : i64
        %6 = arith.trunci %5 : i64 to i32
        affine.store %6, %arg1[%arg2, %arg3 * 4 + %arg4] : memref<8x16xi32>
      } {allo.name = "j.inner", allo.unroll = 0 : i32}
    } {allo.name = "j.outer", allo.pipeline = 1 : i32}
  } {allo.name = "i", allo.nest = "scale", allo.scheduled}
  return
}
"""


def test_tails() -> None:
    """Factors that divide no trips fit a budget better; the last copies run under a condition, to the same bits."""
    whole, uneven = streaming(), streaming()
    plans = [s.unroll_stages("layers", dsp=45, tails=tails) for s, tails in ((whole, False), (uneven, True))]
    for bank in plans[1].banks:
        uneven.partition(bank.array, dim=bank.dim, factor=bank.factor)
    assert [stage.chosen.factor for stage in plans[1].stages] == FACTORS
    assert plans[1].cycles < plans[0].cycles and plans[1].dsp <= 45
    by_nest = {loop.nest: loop.latency for loop in allo.estimate(uneven).loops if loop.level == 0}
    for stage in plans[1].stages:
        assert by_nest[stage.name] == pytest.approx(stage.chosen.cycles, abs=2)
    assert allo.estimate(uneven).dsp == plans[1].dsp
    again = customize(layers)
    again.replay(uneven.steps)
    assert str(again.module) == str(uneven.module)
    assert_faithful(layers, uneven)


FACTORS = [1, 2, 6, 1]


def two_loops(A: int32[4, 8], B: int32[4, 12], X: int32[4, 8], Y: int32[4, 12]):
    for i in range(4, name="both"):
        for j in range(8):
            X[i, j] = A[i, j] * 3
        for k in range(12):
            Y[i, k] = B[i, k] * 5


def test_tails_of_loops_with_other_trips() -> None:
    """A loop has no more copies than iterations, however many another one of its stage has."""
    s = customize(two_loops)
    plan = s.unroll_stages("two_loops", dsp=1000, tails=True)
    for bank in plan.banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    assert dict(s.steps[0].arguments)["factors"] == (8, 12)
    assert allo.estimate(s).cycles == plan.cycles
    assert_faithful(two_loops, s)


def long_rows(A: float32[2, 4096], B: float32[2, 4096]):
    for i, j in allo.grid(2, 4096, name="scale"):
        B[i, j] = A[i, j] * 2.0


def test_as_many_copies_as_banks() -> None:
    (stage,) = customize(long_rows).unroll_stages("long_rows", dsp=10**6).stages
    assert (stage.chosen.factor, stage.limit) == (1024, "1,024 banks of an array at most")


@pytest.mark.slow  # it is compiled
@pytest.mark.parametrize("tails", [False, True])
def test_code_runs(tails: bool) -> None:
    """What HLS tools compile computes the same."""
    s = streaming()
    for bank in s.unroll_stages("layers", dsp=45, tails=tails).banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    rng = np.random.default_rng(3)
    arrays = [rng.integers(-4, 5, shape).astype(np.float32) for shape in ((4, 16), (16, 16), (16, 64), (4, 64))]
    wanted = np.maximum(2 * arrays[0] @ arrays[1] @ arrays[2], 0)
    s.build(target="vitis_hls", mode="csim")(*arrays)
    assert np.array_equal(arrays[3], wanted)


def any_bound(A: int32[64], n: int32):
    for i in range(n, name="some"):
        A[i] = A[i] * 2


def scaled_row(A: int32[8]):
    for i in range(8, name="row"):
        A[i] = A[i] * 3


def test_refusals() -> None:
    s = streaming()
    assert_refused("""
unroll_stages: dsp= are the DSPs that the stages may take together
  hint: s.unroll_stages("layers", dsp=1000)
    """, s, "unroll_stages", "layers")
    assert_refused("""
unroll_stages: dsp= are the DSPs that the stages may take together, got -1
  hint: s.unroll_stages("layers", dsp=1000)
    """, s, "unroll_stages", "layers", dsp=-1)
    assert_refused("""
unroll_stages: the stages take 13 DSPs without unrolling, and dsp= is 5
  hint: give more, or let operators be made of LUTs
    """, s, "unroll_stages", "layers", dsp=5)
    assert_refused("""
unroll_stages: loops= and factors= are given together, a factor for each loop
  hint: s.unroll_stages("f", loops=["f:j"], factors=[4])
    """, s, "unroll_stages", "layers", loops=["layers:first.j"])
    assert_refused("""
unroll_stages: factor 3 does not divide the trip count 64 of loop 'j'
  note: loop 'j' is here
    File, line N, column 5
      for i, k, j in allo.grid(4, 16, 64, name="second"):
      ^
  hint: split and unroll it by hand
    """, s, "unroll_stages", "layers", loops=["layers:second.j"], factors=[3])
    assert_refused("""
unroll_stages: how often loop nest 'some' runs is not known before it does
  hint: stages can be balanced if all of their loops have constant bounds
    """, customize(any_bound), "unroll_stages", "any_bound", dsp=5)
    assert_refused("""
unroll_stages: loop 'i' has no constant trip count
  note: loop 'i' is here
    File, line N, column 5
      for i in range(n, name="some"):
      ^
  hint: split and unroll it by hand
    """, customize(any_bound), "unroll_stages", "any_bound", loops=["i"], factors=[2])
    unrolled = customize(scaled_row)
    unrolled.unroll("row.i")
    assert_refused("""
unroll_stages: no loop nest of 'scaled_row' is a stage: all copies of their outermost loops run at once
  hint: leave it to unroll_stages() which loops are unrolled
    """, unrolled, "unroll_stages", "scaled_row", dsp=5)
    with pytest.raises(TargetError):
        s.unroll_stages("layers", dsp=100, target="xdna1_npu1")
