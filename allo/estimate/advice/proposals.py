"""Steps that would make a function faster, a proposal for each node of its control tree."""

from __future__ import annotations

from mlir import ir

from ...timing.control.spans import Spans
from ...timing.control.tree import Dataflow, Node, Pipeline, Repeat, Sequence, Straight, parts_of
from ..report.rows import least_cycles
from .intervals import advise
from .question import Proposal, Question
from .short_loops import around_short_loops
from .stages import deeper


def proposals(spans: Spans, auto_pipeline: bool) -> dict[ir.Operation, Proposal]:
    """Proposals by the loop that they are about, or the function; inner loops come first."""
    found: dict[ir.Operation, Proposal] = {}

    def visit(node: Node) -> None:
        for part in parts_of(node):
            visit(part)
        if isinstance(node, Repeat | Pipeline):
            own = _of_loop(node, spans, auto_pipeline)
            if own is not None:
                found[node.loops[-1].op if isinstance(node, Pipeline) else node.view.op] = own

    root = spans.tree.root
    visit(root)
    stages = deeper(spans.overlap(root)) if isinstance(root, Dataflow) else None
    if stages is not None:
        found[spans.tree.function.operation] = stages
    return found


def _of_loop(node: Repeat | Pipeline, spans: Spans, auto_pipeline: bool) -> Proposal | None:
    tree = spans.tree
    if isinstance(node, Pipeline):
        names = tuple(tree.loop_name(view) for view in node.loops[-1].chain)
        return advise(Question(tree, node, names, auto_pipeline))
    name = tree.loop_name(node.view)
    if isinstance(node.body, Straight):
        latency = spans.of(node).latency
        bound = least_cycles(node, latency, tree.around.target.control.pipelined_loop)
        faster = bound is not None and latency is not None and bound < latency
        return Proposal(f's.pipeline("{name}")') if faster and node.count is not None and node.count > 1 else None
    if isinstance(node.body, Sequence) and node.view.op.name != "scf.while":
        inside = [tree.trips.of(inner) for inner in tree.views.values() if node.view in inner.chain[:-1]]
        return around_short_loops(name, node.trips, inside)
    return None
