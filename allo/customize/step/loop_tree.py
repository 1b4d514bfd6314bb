"""Loop nests of a function as a tree that prints and is indexed by name: the result of `get_loops()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...errors import NoSuchLoop, ScheduleError, nearest
from ...ir.module import Module
from ...ir.walk import LoopView, annotations_of
from ...picture import preformatted
from .handles import Loop


@dataclass(frozen=True, slots=True)
class LoopNest:
    """The loops of one nest: `nest.i`, `nest["i.outer"]`."""

    name: str
    lines: tuple[tuple[int, str, Loop], ...]  # depth, what to print, handle

    @property
    def loops(self) -> MappingProxyType[str, Loop]:
        """The loops by name; of those with one name, the first."""
        found: dict[str, Loop] = {}
        for _, _, loop in self.lines:
            found.setdefault(loop.name, loop)
        return MappingProxyType(found)

    def __getitem__(self, name: str) -> Loop:
        for _, _, loop in self.lines:
            if loop.name == name:
                return loop
        known = [loop.name for _, _, loop in self.lines]
        raise _unknown(f"nest '{self.name}'", "loop", name, known)

    def __getattr__(self, name: str) -> Loop:
        found: Loop = _attribute(self, name)
        return found

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *(loop.name for loop in self)]

    def __iter__(self) -> Iterator[Loop]:
        return (loop for _, _, loop in self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __str__(self) -> str:
        lines = [f"{self.name}:"]
        lines.extend("  " * (depth + 1) + text for depth, text, _ in self.lines)
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class LoopTree:
    """The loop nests of one function: `loops.S_i_j_0.i`, `loops["gemm"]["i.outer"]`."""

    function: str
    nests: tuple[LoopNest, ...]

    @property
    def loops(self) -> MappingProxyType[str, LoopNest]:
        """The nests by name."""
        return MappingProxyType({nest.name: nest for nest in self.nests})

    def __getitem__(self, name: str) -> LoopNest:
        for nest in self.nests:
            if nest.name == name:
                return nest
        raise _unknown(f"function '{self.function}'", "loop nest", name, [nest.name for nest in self.nests])

    def __getattr__(self, name: str) -> LoopNest:
        found: LoopNest = _attribute(self, name)
        return found

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *(nest.name for nest in self.nests)]

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __iter__(self) -> Iterator[LoopNest]:
        return iter(self.nests)

    def __len__(self) -> int:
        return len(self.nests)

    def __str__(self) -> str:
        return "\n".join([self.function, *("  " + str(nest).replace("\n", "\n  ") for nest in self.nests)])

    __repr__ = __str__


def _unknown(where: str, what: str, name: object, known: list[str]) -> ScheduleError:
    """The refusal of what a nest or a tree does not have: `name` may be whatever a user wrote."""
    listed = f"its {what.split()[-1]}s are {', '.join(known)}" if known else f"it has no {what.split()[-1]}s"
    if not isinstance(name, str):
        return ScheduleError(f"a {what} of {where} is taken by its name, got {name!r}", hint=listed)
    return ScheduleError(f"{where} has no {what} '{name}'", hint=nearest(name, known) or listed)


def _attribute(tree: Any, name: str) -> Any:
    """The member `name` of a nest or a tree; NoSuchLoop if there is none."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return tree[name]
    except ScheduleError as error:
        refusal = NoSuchLoop.collected(error.diagnostics)
    refusal.name, refusal.obj = name, None  # the error has a hint, so that Python adds none
    raise refusal


def loop_tree(module: Module, function: str, called: str | None = None) -> LoopTree:
    """The loop nests of `function`, in handles `called` so; a named inner nest is also a nest of its own."""
    name_of_function = called or function
    nests: dict[str, list[tuple[int, str, Loop]]] = {}
    for view in module.loops(function):
        handle = Loop(name_of_function, view.nest, view.name)
        starts: list[tuple[str, int]] = []
        for depth, member in enumerate(view.chain):
            if (name := nest_name(member)) is not None:
                starts.append((name, depth))
        for name, start in starts:
            nests.setdefault(name, []).append((len(view.chain) - 1 - start, _line(view), handle))
    return LoopTree(name_of_function, tuple(LoopNest(name, tuple(loops)) for name, loops in nests.items()))


def nest_name(view: LoopView) -> str | None:
    """The name of the nest that starts with a loop, if one does."""
    return view.own_nest or (view.nest if view.parent is None else None)


def _line(view: LoopView) -> str:
    """The loop with its annotations, as the tree prints it."""
    marks = annotations_of(view.op)
    return view.name + (f"  ({', '.join(marks)})" if marks else "")
