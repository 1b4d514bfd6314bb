"""Control trees: what their nodes are, and what is shared by the trees that steps would lead to."""

from __future__ import annotations

import allo
from allo.ir.types import float32
from allo.target import load_target
from allo.timing.control.build import Assumed, TreeOptions
from allo.timing.control.tree import Invocation, Node, Pipeline, Repeat, Spatial, nodes
from allo.timing.control.trees import AssumedTrees, Trees

TARGET = load_target("u280")


def scaled(A: float32[8], B: float32[8]):
    for k in range(8):
        B[k] = A[k] * 2.0


def rows(A: float32[4, 8], B: float32[4, 8], C: float32[16]):
    for i in range(4):
        for m in range(8):
            B[i, m] = A[i, m] + 1.0
        for n in range(8):
            B[i, n] = B[i, n] * 3.0
    for j in range(16):
        C[j] = C[j] + 1.0


def calling(A: float32[8], B: float32[8]):
    for _t in range(4):
        scaled(A, B)


def trees_of(s: allo.Schedule) -> Trees:
    trees = Trees(s.ir, TreeOptions(TARGET))
    trees.span(s.ir.top)
    return trees


def loop(trees: Trees, function: str, name: str) -> Node:
    found = nodes(trees.spans[function].tree.root)
    (node,) = (n for n in found if isinstance(n, Repeat | Pipeline | Spatial) and n.view.name == name)
    return node


def assumed(s: allo.Schedule, function: str, name: str) -> tuple[Trees, AssumedTrees]:
    trees = trees_of(s)
    (op,) = (op for op, view in trees.builders[function].views.items() if view.name == name)
    return trees, AssumedTrees(trees, {function: {op: Assumed()}})


def test_a_step_changes_its_loop_and_those_around() -> None:
    s = allo.customize(rows)
    before, after = assumed(s, "rows", "m")
    latency = after.span("rows").latency
    assert isinstance(loop(after, "rows", "m"), Pipeline)
    assert loop(after, "rows", "i") is not loop(before, "rows", "i")
    assert all(loop(after, "rows", name) is loop(before, "rows", name) for name in "nj")
    s.pipeline("m")
    assert latency == trees_of(s).span("rows").latency


def test_a_step_in_a_callee_changes_the_schedules_of_calls() -> None:
    s = allo.customize(calling)
    s.pipeline("calling:_t")
    before, after = assumed(s, "scaled", "k")
    latency = after.span("calling").latency
    assert latency is not None and latency < (before.span("calling").latency or 0)
    s.pipeline("scaled:k")
    assert latency == trees_of(s).span("calling").latency


GRID = """
func.func @element(%S: !allo.stream<f32, 2>) {
  %x = arith.constant 1.0 : f32
  affine.for %i = 0 to 16 {
    allo.stream_put %S, %x : !allo.stream<f32, 2>
  } {allo.name = "i"}
  return
}
func.func @taking(%S: !allo.stream<f32, 2>, %A: memref<16xf32>) {
  affine.for %i = 0 to 16 {
    %y = allo.stream_get %S : !allo.stream<f32, 2>
    affine.store %y, %A[%i] : memref<16xf32>
  } {allo.name = "i"}
  return
}
func.func @top(%A: memref<16xf32>) attributes {allo.dataflow} {
  %S = allo.stream_create {allo.name = "S"} : !allo.stream<f32, 2>
  affine.for %p = 0 to 4 {
    affine.if affine_set<(d0) : (d0 == 0)>(%p) {
      func.call @element(%S) : (!allo.stream<f32, 2>) -> ()
    }
  } {allo.name = "p", allo.spatial}
  func.call @taking(%S, %A) : (!allo.stream<f32, 2>, memref<16xf32>) -> ()
  return
}
"""


def test_a_grid_is_one_node_whose_positions_are_not_told_apart() -> None:
    spans = trees_of(allo.Schedule.from_mlir(GRID)).spans["top"]
    grid, call = spans.tree.root.parts
    assert isinstance(grid, Spatial) and isinstance(call, Invocation)
    assert spans.of(grid).callees == {"element": 4}
    (event,) = spans.overlap(spans.tree.root).span.ends.puts.values()  # type: ignore[arg-type]
    assert event.count is None
