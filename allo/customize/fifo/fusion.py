"""Kernel fusion by streams: graphs of kernels, which of them become one under a budget of memory on the chip.

Source: StreamTensor, section 5.2.2 and Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import counted
from ...picture import aligned, preformatted


@dataclass(frozen=True, slots=True)
class StreamLink:
    """An array that a kernel makes and another one takes.

    `size` are the bytes of the array; `cost` are those of the converter between both, 0 for a FIFO alone, None if it
    cannot stream, for the reason `why`.
    """

    array: str
    producer: str
    consumer: str
    size: int
    cost: int | None
    why: str = ""
    converter: str = ""


@dataclass(frozen=True, slots=True)
class KernelGraph:
    """Kernels in an order in which each comes behind those that it depends on, and the arrays between them."""

    kernels: tuple[str, ...]
    links: tuple[StreamLink, ...]


@dataclass(frozen=True, slots=True)
class FusionPlan:
    """Which kernels are one: `group` numbers them, in the order in which the groups run; `budget` are bytes a group."""

    graph: KernelGraph
    group: Mapping[str, int]
    budget: int | None

    def is_streamed(self, link: StreamLink) -> bool:
        """Whether an array stays on the chip."""
        return self.group[link.producer] == self.group[link.consumer]

    @property
    def streamed(self) -> tuple[StreamLink, ...]:
        return tuple(link for link in self.graph.links if self.is_streamed(link))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The kernels of each group."""
        count = max(self.group.values(), default=-1) + 1
        return tuple(tuple(k for k in self.graph.kernels if self.group[k] == n) for n in range(count))

    @property
    def costs(self) -> tuple[int, ...]:
        """The bytes of the converters of each group."""
        return tuple(
            sum(link.cost or 0 for link in self.streamed if self.group[link.producer] == n)
            for n in range(len(self.groups))
        )

    @property
    def arrays(self) -> dict[str, int]:
        """The bytes of all arrays between kernels."""
        return {link.array: link.size for link in self.graph.links}

    @property
    def before(self) -> int:
        """Bytes on the chip if all arrays between kernels are there."""
        return sum(self.arrays.values())

    @property
    def after(self) -> int:
        """Bytes of all converters, and of the arrays that do not stream to all who take them."""
        left = {link.array for link in self.graph.links if not self.is_streamed(link)}
        return sum(self.costs) + sum(size for array, size in self.arrays.items() if array in left)

    @property
    def round_trips(self) -> int:
        """How many reads of an array are still through memory."""
        return len(self.graph.links) - len(self.streamed)

    def __str__(self) -> str:
        percent = f", {100 * self.after / self.before:.1f} %" if self.before else ""
        head = (
            f"{len(self.streamed)} of {len(self.graph.links)} arrays between kernels stream, in "
            f"{counted(len(self.groups), 'fused kernel')}; {self.before:,} bytes before, {self.after:,} after{percent}"
        )
        rows = [("array", "from", "to", "bytes", "converter", "why not")]
        for link in self.graph.links:
            made = "" if link.cost is None else f"{link.cost:,} {link.converter}".strip() if link.cost else "FIFO"
            fits = "" if self.is_streamed(link) or link.why else "other fused kernel"
            rows.append((link.array, link.producer, link.consumer, f"{link.size:,}", made, link.why or fits))
        return "\n".join([head, *aligned(rows)])

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def fused(graph: KernelGraph, budget: int | None) -> FusionPlan:
    """The greedy plan: each kernel joins the last group that it takes an array from, if the converters fit.

    What cannot stream fits nowhere. Groups depend on earlier ones only, so that they can run one after the other.
    """
    group: dict[str, int] = {}
    costs: list[int] = []
    for kernel in graph.kernels:
        candidates: dict[int, float] = {}
        for link in _taken(graph, kernel):
            cost = float("inf") if link.cost is None else link.cost
            candidates[group[link.producer]] = candidates.get(group[link.producer], 0) + cost
        nearest = max(candidates, default=None)
        limit = float("inf") if budget is None else budget
        if nearest is None or candidates[nearest] == float("inf") or costs[nearest] + candidates[nearest] > limit:
            group[kernel] = len(costs)
            costs.append(0)
        else:
            group[kernel] = nearest
            costs[nearest] += int(candidates[nearest])
    return FusionPlan(graph, group, budget)


def _taken(graph: KernelGraph, kernel: str) -> Sequence[StreamLink]:
    return [link for link in graph.links if link.consumer == kernel]
