"""Memory of arrays, as programs state it: what it is made of, and which part each element of a mesh has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .ir.memory import Memory
from .ir.types import AlloType
from .layout import Layout

__all__ = ["DTensor", "Layout", "Memory", "get_memory_space"]


def get_memory_space(memory: Memory | None) -> int:
    """One number for a kind of memory, 0 if nothing is chosen: see `Memory.get_memory_space`."""
    return 0 if memory is None else memory.get_memory_space()


@dataclass(frozen=True, slots=True, init=False)
class DTensor:
    """An array that is spread over a mesh: its mesh (`mapping`), whole shape, type of elements, layout and name.

    Raises ValueError for a layout that does not fit the shape and the mesh.
    """

    mapping: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: AlloType
    layout: Layout
    name: str | None

    def __init__(
        self,
        mapping: Sequence[int],
        shape: Sequence[int],
        dtype: AlloType,
        layout: Layout | None = None,
        name: str | None = None,
    ) -> None:
        found = Layout.replicated(len(shape)) if layout is None else layout
        found.local_shape(shape, mapping)
        for field, value in (("mapping", tuple(mapping)), ("shape", tuple(shape)), ("dtype", dtype)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "layout", found)
        object.__setattr__(self, "name", name)

    def get_local_shape(self) -> tuple[int, ...]:
        """The shape of the part that each element of the mesh has."""
        return self.layout.local_shape(self.shape, self.mapping)

    @property
    def global_placement(self) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
        """The elements of the mesh that have each part."""
        return self.layout.get_placement(self.mapping)
