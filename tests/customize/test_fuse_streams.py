"""fuse_streams: all arrays between loop nests as streams, under a budget."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import pytest

import allo
from allo import customize
from allo.ir.types import int32
from tests.importers.models import check, kernel_of, run, stored

from .checks import assert_faithful, assert_ir, assert_refused


def layers(A: int32[4, 6], V: int32[6, 3], W: int32[4, 3], B: int32[4, 3]):
    X: int32[4, 6]
    for i, j in allo.grid(4, 6, name="activate"):
        X[i, j] = A[i, j] + 1
    Y: int32[4, 3]
    for i, j in allo.grid(4, 3, name="start"):
        Y[i, j] = W[i, j]
    for i, j, k in allo.grid(4, 3, 6, name="product"):
        Y[i, j] += X[i, k] * V[k, j]
    Z: int32[4, 3]
    for j, i in allo.grid(3, 4, name="column"):
        Z[i, j] = Y[i, j] * 2
    for i, j in allo.grid(4, 3, name="sum"):
        B[i, j] = Z[i, j] + Y[i, j]


def test_golden() -> None:
    s = customize(layers)
    s.fuse_streams("layers", reorder=False)
    assert_ir(s, """
    func.func @layers(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x3xi32> {allo.name = "V"}, %arg2: memref<4x3xi32> {allo.name = "W"}, %arg3: memref<4x3xi32> {allo.name = "B"}) attributes {allo.dataflow} {
      %0 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 6] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_X"} : !allo.stream<i32, 24>
      affine.for %arg4 = 0 to 4 {
        affine.for %arg5 = 0 to 6 {
          %7 = affine.load %arg0[%arg4, %arg5] : memref<4x6xi32>
          %8 = arith.extsi %7 : i32 to i33
          %c1_i33 = arith.constant 1 : i33
          %9 = arith.addi %8, %c1_i33 : i33
          %10 = arith.trunci %9 : i33 to i32
          allo.stream_put %0, %10 : !allo.stream<i32, 24>
        } {allo.name = "j"}
      } {allo.name = "i", allo.nest = "activate"}
      %1 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 3] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_Y"} : !allo.stream<i32, 12>
      %2 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 3] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_Y_1"} : !allo.stream<i32, 12>
      %alloc = memref.alloc() {allo.name = "X_tile"} : memref<2x6xi32>
      %3 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 3, 6] * [1, 1, 1], (d0, d1, d2) -> (d0, d2)>, allo.name = "fifo_X_in_order"} : !allo.stream<i32, 2>
      affine.for %arg4 = 0 to 5 {
        affine.for %arg5 = 0 to 18 {
          affine.if affine_set<(d0, d1) : (-d0 + 3 >= 0, -d1 + 5 >= 0)>(%arg4, %arg5) {
            %7 = allo.stream_get %0 : !allo.stream<i32, 24>
            affine.store %7, %alloc[%arg4 mod 2, %arg5] : memref<2x6xi32>
          }
          affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%arg4) {
            %7 = affine.load %alloc[%arg4 - ((%arg4 + 1) floordiv 2) * 2 + 1, %arg5 mod 6] : memref<2x6xi32>
            allo.stream_put %3, %7 : !allo.stream<i32, 2>
          }
        } {allo.name = "x", allo.pipeline = 1 : i32}
      } {allo.name = "p", allo.nest = "convert_X", allo.x_converter}
      affine.for %arg4 = 0 to 4 {
        affine.for %arg5 = 0 to 3 {
          %alloc_2 = memref.alloc() {allo.name = "buf_Y"} : memref<i32>
          %7 = affine.load %arg2[%arg4, %arg5] : memref<4x3xi32>
          affine.store %7, %alloc_2[] : memref<i32>
          affine.for %arg6 = 0 to 6 {
            %9 = affine.load %alloc_2[] : memref<i32>
            %10 = arith.extsi %9 : i32 to i65
            %11 = allo.stream_get %3 : !allo.stream<i32, 2>
            %12 = arith.extsi %11 : i32 to i64
            %13 = affine.load %arg1[%arg6, %arg5] : memref<6x3xi32>
            %14 = arith.extsi %13 : i32 to i64
            %15 = arith.muli %12, %14 : i64
            %16 = arith.extsi %15 : i64 to i65
            %17 = arith.addi %10, %16 : i65
            %18 = arith.trunci %17 : i65 to i32
            affine.store %18, %alloc_2[] : memref<i32>
          } {allo.name = "k"}
          %8 = affine.load %alloc_2[] : memref<i32>
          allo.stream_put %1, %8 : !allo.stream<i32, 12>
          allo.stream_put %2, %8 : !allo.stream<i32, 12>
        } {allo.name = "j"}
      } {allo.name = "i", allo.nest = "product"}
      %4 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [3, 4] * [1, 1], (d0, d1) -> (d1, d0)>, allo.name = "fifo_Z"} : !allo.stream<i32, 12>
      %alloc_0 = memref.alloc() {allo.name = "Y_tile"} : memref<1x12xi32>
      %5 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [3, 4] * [1, 1], (d0, d1) -> (d1, d0)>, allo.name = "fifo_Y_in_order"} : !allo.stream<i32, 2>
      affine.for %arg4 = 0 to 1 {
        affine.for %arg5 = 0 to 12 {
          %7 = allo.stream_get %1 : !allo.stream<i32, 12>
          affine.store %7, %alloc_0[0, %arg5] : memref<1x12xi32>
        } {allo.name = "x", allo.pipeline = 1 : i32}
        affine.for %arg5 = 0 to 12 {
          %7 = affine.load %alloc_0[0, %arg5 * 3 - (%arg5 floordiv 4) * 11] : memref<1x12xi32>
          allo.stream_put %5, %7 : !allo.stream<i32, 2>
        } {allo.name = "y", allo.pipeline = 1 : i32}
      } {allo.name = "p", allo.nest = "convert_Y", allo.x_converter}
      affine.for %arg4 = 0 to 3 {
        affine.for %arg5 = 0 to 4 {
          %7 = allo.stream_get %5 : !allo.stream<i32, 2>
          %8 = arith.extsi %7 : i32 to i34
          %c2_i34 = arith.constant 2 : i34
          %9 = arith.muli %8, %c2_i34 : i34
          %10 = arith.trunci %9 : i34 to i32
          allo.stream_put %4, %10 : !allo.stream<i32, 12>
        } {allo.name = "i"}
      } {allo.name = "j", allo.nest = "column"}
      %alloc_1 = memref.alloc() {allo.name = "Z_tile"} : memref<1x12xi32>
      %6 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 3] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_Z_in_order"} : !allo.stream<i32, 2>
      affine.for %arg4 = 0 to 1 {
        affine.for %arg5 = 0 to 12 {
          %7 = allo.stream_get %4 : !allo.stream<i32, 12>
          affine.store %7, %alloc_1[0, %arg5 floordiv 4 + (%arg5 mod 4) * 3] : memref<1x12xi32>
        } {allo.name = "x", allo.pipeline = 1 : i32}
        affine.for %arg5 = 0 to 12 {
          %7 = affine.load %alloc_1[0, %arg5] : memref<1x12xi32>
          allo.stream_put %6, %7 : !allo.stream<i32, 2>
        } {allo.name = "y", allo.pipeline = 1 : i32}
      } {allo.name = "p", allo.nest = "convert_Z", allo.x_converter}
      affine.for %arg4 = 0 to 4 {
        affine.for %arg5 = 0 to 3 {
          %7 = allo.stream_get %6 : !allo.stream<i32, 2>
          %8 = arith.extsi %7 : i32 to i33
          %9 = allo.stream_get %2 : !allo.stream<i32, 12>
          %10 = arith.extsi %9 : i32 to i33
          %11 = arith.addi %8, %10 : i33
          %12 = arith.trunci %11 : i33 to i32
          affine.store %12, %arg3[%arg4, %arg5] : memref<4x3xi32>
        } {allo.name = "j"}
      } {allo.name = "i", allo.nest = "sum"}
      return
    }
    """)


def test_plan() -> None:
    s = customize(layers)
    plan = s.fuse_streams("layers", reorder=False)
    assert plan.groups == (("activate", "product", "column", "sum"),)
    assert str(plan) == PLAN
    assert [(step.name, len(step.arguments)) for step in s.steps] == [("fuse_streams", 4)]
    assert_faithful(layers, s)
    assert allo.verify(customize(layers), s)


PLAN = """\
4 of 4 arrays between kernels stream, in 1 fused kernel; 192 bytes before, 144 after, 75.0 %
array  from      to       bytes  converter      why not
-----  --------  -------  -----  -------------  -------
X      activate  product  96     48 2 of 1 x 6
Y      product   column   48     48 1 of 4 x 3
Y      product   sum      48     FIFO
Z      column    sum      48     48 1 of 4 x 3"""


def attention(X: int32[3, 16], V: int32[2, 3, 3], B: int32[3, 4]):
    P: int32[3, 16]
    for t, n in allo.grid(3, 16, name="project"):
        P[t, n] = X[t, n] + 1
    Q: int32[2, 3, 2]
    for h, t, d in allo.grid(2, 3, 2, name="query"):
        Q[h, t, d] = P[t, 4 + 2 * h + d]
    S: int32[2, 3, 3]
    for h, t, u in allo.grid(2, 3, 3, name="scores"):
        S[h, t, u] = 0
        for d in range(2):
            S[h, t, u] += Q[h, t, d] * V[h, t, u]
    H: int32[2, 3, 2]
    for h, t, d in allo.grid(2, 3, 2, name="heads"):
        H[h, t, d] = S[h, t, d] if X[t, d] > 3 else 0
    for t, n in allo.grid(3, 4, name="joined"):
        B[t, n] = H[n // 2, t, n % 2]


def test_orders_of_loops() -> None:
    """Heads, which the text has outermost, go inside of tokens: what held whole arrays holds two rows of a head."""
    kept, s = customize(attention), customize(attention)
    before = kept.fuse_streams("attention", reorder=False)
    plan = s.fuse_streams("attention")
    assert [(link.array, link.cost) for link in before.graph.links] == [("P", 48), ("Q", 16), ("S", 0), ("H", 48)]
    assert [(link.array, link.cost) for link in plan.graph.links] == [("P", 0), ("Q", 16), ("S", 0), ("H", 0)]
    for schedule in (kept, s):
        assert_faithful(attention, schedule)
    assert allo.verify(customize(attention), s)


def with_scalars(A: int32[4, 6], B: int32[4, 6]) -> int32:
    X: int32[4, 6]
    first: int32 = 3
    for i, j in allo.grid(4, 6, name="add"):
        X[i, j] = A[i, j] + first
    last: int32 = 0
    for i, j in allo.grid(4, 6, name="double"):
        B[i, j] = X[i, j] * 2
        last = B[i, j]
    return last


def test_scalars_stay() -> None:
    """What single statements write or read is no stream, and the arrays beside it are."""
    s = customize(with_scalars)
    plan = s.fuse_streams("with_scalars")
    assert [link.array for link in plan.streamed] == ["X"]
    assert_faithful(with_scalars, s)


def halves(A: int32[3, 4], B: int32[3, 4]):
    C: int32[3, 4]
    for i, j in allo.grid(3, 2, name="left"):
        C[i, j] = A[i, j + 2]
    for i, j in allo.grid(3, 2, name="right"):
        C[i, j + 2] = A[i, j]
    for i, j in allo.grid(3, 4, name="consume"):
        B[i, j] = C[i, j] + 1


def test_concatenation() -> None:
    """The halves of a row are made one after the other, so that the row passes in order."""
    s = customize(halves)
    assert s.fuse_streams("halves").after == 0
    assert_faithful(halves, s)
    assert allo.verify(customize(halves), s)


@pytest.mark.parametrize(("budget", "groups", "streams"), [(47, 4, 0), (48, 2, 2)])
def test_budget(budget: int, groups: int, streams: int) -> None:
    s = customize(layers)
    plan = s.fuse_streams("layers", budget=budget, reorder=False)
    assert (len(plan.groups), len(plan.streamed)) == (groups, streams)
    assert all(cost <= budget for cost in plan.costs)
    assert_faithful(layers, s)


def alone(A: int32[4], B: int32[4]):
    for i in range(4):
        B[i] = A[i]


def counted(A: int32[8], n: int32[1], B: int32[8]):
    m: int32 = n[0] + 1
    for i in range(8, name="shift"):
        B[i] = A[i] + m
    n[0] = m


REFUSALS = {
    "budget": """
fuse_streams: budget= are the bytes of converters in a fused kernel, got -1
    """,
    "half": """
fuse_streams: arrays= and nests= are given together, a nest for each array
  hint: s.fuse_streams("f", arrays=["T"], nests=["consume"])
    """,
    "alone": """
fuse_streams: no two loop nests of 'alone' hand on a local array
  hint: customize with lower_linalg=True makes loops of operators; inline() those of functions
    """,
    "counted": """
fuse_streams: no two loop nests of 'counted' hand on a local array
  hint: customize with lower_linalg=True makes loops of operators; inline() those of functions
    """,
    "order": """
fuse_streams: 'B' is not a local array, and only an array that is made in the module can become a FIFO
  note: 'B' is declared here
    File, line N, column 60
      def layers(A: int32[4, 6], V: int32[6, 3], W: int32[4, 3], B: int32[4, 3]):
                                                                 ^
    """,
}


@pytest.mark.parametrize(
    ("name", "kernel", "options"),
    [
        ("budget", layers, {"budget": -1}),
        ("half", layers, {"arrays": ["X"]}),
        ("alone", alone, {}),
        ("counted", counted, {}),  # what single statements make is no kernel
        ("order", layers, {"arrays": ["B"], "nests": ["sum"]}),
    ],
)
def test_refusals(name: str, kernel, options) -> None:
    assert_refused(REFUSALS[name], customize(kernel), "fuse_streams", kernel.__name__, **options)


def test_imported_model() -> None:
    """A model becomes one kernel of streams with FIFOs of few places; sums and softmax rows stay in its nests."""
    s = customize(kernel_of("perceptron"), lower_linalg=True)
    plan = s.fuse_streams("perceptron")
    assert (len(plan.groups), plan.round_trips, plan.before, plan.after) == (1, 0, 552, 256)
    known = stored("perceptron")
    check(run(s.build(), *known.inputs), known.results)


@pytest.mark.exhaustive
def test_transformer() -> None:
    s = customize(kernel_of("gpt2"), lower_linalg=True)
    plan = s.fuse_streams("gpt2")
    assert (len(plan.graph.links), plan.round_trips, len(plan.groups)) == (41, 0, 1)
    assert (plan.before, plan.after) == (10_032, 1_616)
    known = stored("gpt2")
    check(run(s.build(), *known.inputs), known.results)
