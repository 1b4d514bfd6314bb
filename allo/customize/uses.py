"""Uses of a schedule, sugar for the layers above: builds, proofs, pictures and reports; `uses.pyi` has their types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any


class Uses:
    """The methods of a schedule that make something of it."""

    def build(
        self,
        target: str | None = None,
        mode: str | None = None,
        project: str | None = None,
        configs: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """Make something that runs; `target=None` means the CPU. See `allo.build`."""
        from ..build import build

        return build(self, target=target, mode=mode, project=project, configs=configs, **options)

    def verify(self, **options: Any) -> Any:
        """Whether the steps have kept the meaning of the kernel: `allo.verify` of the unscheduled kernel and this."""
        from ..equivalence import verify

        return verify(self.state(0), self, **options)

    @property
    def graph(self) -> Any:
        """The hierarchical dataflow graph as it is now (`allo.compose.DataflowGraph`): users, producers, consumers."""
        from ..compose import dataflow_graph

        return dataflow_graph(self.ir)

    def draw(self, figures: Any = None) -> Any:
        """A picture of the dataflow graph (`allo.report.Drawing`): notebooks show it, `save("graph.svg")` writes it.

        `figures` are those of a timed run (`built.timing`) or an estimate (`s.report("u280")`): cycles and stalls.
        """
        from ..report import draw

        return draw(self, figures)

    def draw_loops(self, k: int | None = None) -> Any:
        """A picture of the loops before and after step `k` (the first is 0; without one: all steps)."""
        from ..report import draw_loops

        return draw_loops(self, k)

    def draw_banks(self, array: Any) -> Any:
        """A picture of the banks in which the elements of an array lie."""
        from ..report import draw_banks

        return draw_banks(self, array)

    def report(self, target: Any = None, **options: Any) -> Any:
        """Trip counts and bytes moved of each loop, size and layout of each array (`allo.report.StructureReport`).

        With a `target` (`"u280"`), what the schedule costs there, *estimated*: see `allo.estimate`; its `to_html` is a
        report of the whole design.
        """
        from ..estimate import estimate
        from ..report import structure_report

        if target is None and options:
            raise TypeError(f"report() takes {', '.join(options)} with a target only, such as target=\"u280\"")
        if target is None:
            return structure_report(self)
        return replace(estimate(self, target, **options), design=self.copy())
