"""Report of a function: folds over its control tree."""

from __future__ import annotations

from dataclasses import replace

from ..timing.control.spans import Spans, notes, timelines
from ..timing.control.tree import Pipeline, Repeat, Straight, nodes
from ..timing.schedule import StaticSchedule
from .advice.proposals import proposals
from .report.result import LoopEstimate
from .report.rows import Rows


class FunctionReport:
    """What is said of a function with a body; `remarks` are those on what a tool does to it unasked."""

    def __init__(self, spans: Spans, auto_pipeline: bool, remarks: list[str]) -> None:
        self.spans = spans
        self.tree = spans.tree
        self.rows = Rows(spans)
        self.proposals = proposals(spans, auto_pipeline)
        self.notes = [*notes(spans), *remarks]
        self.timelines = tuple(timelines(spans))

    @property
    def loops(self) -> tuple[LoopEstimate, ...]:
        """The rows, with what is proposed for the loops."""
        found = self.rows.loops
        steps = {id(self.rows.made[op]): p.step for op, p in self.proposals.items() if op in self.rows.made}
        return tuple(replace(row, advice=steps.get(id(row), "")) for row in found)

    def schedules(self) -> dict[tuple[str, str, str], StaticSchedule]:
        """Those of the bodies of innermost loops."""
        found = {}
        for node in nodes(self.tree.root):
            if isinstance(node, Pipeline):
                view, schedule = node.loops[-1], node.region.schedule
            elif isinstance(node, Repeat) and isinstance(node.body, Straight):
                view, schedule = node.view, node.body.region.schedule
            else:
                continue
            found[self.tree.name, view.nest, view.name] = schedule
        return found
