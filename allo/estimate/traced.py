"""Cycles of kernels whose tasks stand in grids, wait for one another or run under conditions: of a run put by put."""

from __future__ import annotations

from fractions import Fraction

from ..dataflow.replay import replay
from ..ir.module import Module
from ..ir.walk import induction_variable
from ..timing.control.tree import Branch, Dataflow, Invocation, Node, Spatial, nodes
from ..timing.control.trees import Trees
from ..timing.interval.walks import components
from .traces.recorder import TooManyEvents
from .traces.static import recorded
from .traces.text import NoTrace

_MOST_EVENTS = 100_000  # some tenths of a second: an estimate does not take longer for larger extents


def traced_cycles(module: Module, trees: Trees) -> tuple[Fraction | None, str]:
    """The cycles of a kernel, and what to say of them; None where rates of puts and gets tell as much, or are all."""
    why = _why(trees)
    if not why:
        return None, ""
    rates = f"{why}, and the latency is that of their rates: "
    for scheduled in (True, False):
        try:
            recorder = recorded(module, trees, _MOST_EVENTS, scheduled=scheduled)
        except NoTrace as error:
            return None, rates + error.reason
        except TooManyEvents:
            return None, rates + f"more than {_MOST_EVENTS:,} elements pass through streams"
        found = replay(recorder.trace())
        if not found.stuck:
            return Fraction(found.total), f"{why}: the latency is that of a run without data, put by put"
    return None, rates + "FIFOs of these depths let tasks wait for ever"


def _why(trees: Trees) -> str:
    """What rates of puts and gets do not tell."""
    for name, spans in trees.spans.items():
        for node in nodes(spans.tree.root):
            if not isinstance(node, Dataflow):
                continue
            ends = [(part, spans.of(part).ends) for part in node.parts]
            talking = [(part, end.puts.keys(), end.gets.keys()) for part, end in ends if end.puts or end.gets]
            numbered = list(enumerate(talking))
            edges = [(a, b) for a, (_, puts, _) in numbered for b, (_, _, gets) in numbered if puts & gets]
            if any(len(circle) > 1 for circle in components(len(talking), edges)):
                return f"{name}: its tasks wait for one another in a circle"
            if any(_is_grid_of_tasks(part) for part, _, _ in talking):
                return f"{name}: positions of a grid do not do the same at the same time"
            if any(_is_conditional(trees, name, part) for part, _, _ in talking):
                return f"{name}: conditions decide how long iterations of its stages take"
    return ""


def _is_conditional(trees: Trees, function: str, part: Node) -> bool:
    """Whether iterations in a process, or in what it calls, take more or fewer cycles under conditions on loops."""
    spans = trees.spans[function]
    for node in nodes(part):
        if isinstance(node, Branch) and node.shares is not None and not spans.is_even(node):
            return True
        called = trees.spans.get(node.callee) if isinstance(node, Invocation) else None
        if called is not None and _is_conditional(trees, called.tree.name, called.tree.root):
            return True
    return False


def _is_grid_of_tasks(part: Node) -> bool:
    """Whether a process stands at each position of a grid and knows it; elements of an unfolded nest do the same."""
    inside = list(nodes(part))
    variables = [induction_variable(node.view.op) for node in inside if isinstance(node, Spatial)]
    calls = [node.op for node in inside if isinstance(node, Invocation)] if variables else []
    return any(operand in variables for call in calls for operand in call.operands)
