"""Uses of a schedule, sugar for the layers above: builds, proofs, pictures and reports; `uses.pyi` has their types."""

from __future__ import annotations

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

    def draw(self) -> Any:
        """A picture of the dataflow graph (`allo.report.Drawing`): notebooks show it, `save("graph.svg")` writes it."""
        from ..report import draw

        return draw(self)

    def report(self, target: Any = None, **options: Any) -> Any:
        """Trip counts and bytes moved of each loop, size and layout of each array (`allo.report.StructureReport`).

        With a `target` (`"u280"`), what the schedule costs there, *estimated*: see `allo.estimate`.
        """
        from ..estimate import estimate
        from ..report import structure_report

        if target is None and options:
            raise TypeError(f"report() takes {', '.join(options)} with a target only, such as target=\"u280\"")
        return structure_report(self) if target is None else estimate(self, target, **options)
