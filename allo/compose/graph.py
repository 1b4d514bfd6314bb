"""Hierarchical dataflow graph of a module (Allo paper, section 6.2): arrays, and how data flow.

Nodes are the arrays, scalar variables and streams of every function, named `"gemm:C"`, and the constants of the
module, `"@weights"`. Edges join two nodes that are one array: a caller's array and the callee's argument, what a callee
returns and the result in the caller, a constant and its uses. The loop nests, calls and statements that write or read a
node are its producers and consumers. All are frozen values: the graph does not change when the module is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mlir import ir

from ..customize.step.handles import Buffer
from ..errors import Location, ScheduleError, counted, nearest
from ..ir.access import base_of, callee_name, is_array
from ..ir.array_graph import ArrayGraph, ArrayRole, Link
from ..ir.effects import Effects, with_inner
from ..ir.module import Module
from ..ir.recursion import reads_programs
from ..ir.streams import is_stream
from ..ir.walk import buffer_location, entry_block, location_of, string_of
from ..picture.graph import svg
from .pictured import details_of, pictured

__all__ = ["ArrayRole", "BufferEdge", "BufferNode", "DataflowGraph", "Link", "Use", "dataflow_graph"]


@dataclass(frozen=True, slots=True)
class BufferNode:
    """An array, scalar variable or stream of a function (of none, for a constant of the module)."""

    function: str
    buffer: str
    role: ArrayRole
    type: str
    at: Location | None
    details: tuple[str, ...] = ()  # the user's type, and the partition or the depth

    @property
    def name(self) -> str:
        """How users call it: `"gemm:C"`."""
        return f"{self.function}:{self.buffer}" if self.function else self.buffer


@dataclass(frozen=True, slots=True)
class BufferEdge:
    """Nodes `source` and `target` are one array; data of arguments are drawn from the caller to the callee."""

    kind: Link
    source: str
    target: str
    at: Location | None


@dataclass(frozen=True, slots=True)
class Use:
    """A part of a function that reads or writes a node: a loop nest, a call (by the callee's name), a statement."""

    function: str
    part: str
    kind: str
    at: Location | None


@dataclass(frozen=True, slots=True)
class DataflowGraph:
    """Nodes by name in the order of the text, edges, and what is done with the nodes."""

    nodes: Mapping[str, BufferNode]
    edges: tuple[BufferEdge, ...]
    _producers: Mapping[str, tuple[Use, ...]]
    _consumers: Mapping[str, tuple[Use, ...]]
    _around: Mapping[str, tuple[BufferEdge, ...]]

    def __repr__(self) -> str:
        return f"<DataflowGraph of {counted(len(self.nodes), 'array')} and {counted(len(self.edges), 'edge')}>"

    def _repr_html_(self) -> str:
        functions = dict.fromkeys(node.function for node in self.nodes.values() if node.function)
        return svg(*pictured(self), [*functions])

    def producers(self, name: str | Buffer) -> tuple[Use, ...]:
        """What writes a node in its own function, in the order of the text. Raises ScheduleError if there is none."""
        return self._producers.get(self.node(name).name, ())

    def consumers(self, name: str | Buffer) -> tuple[Use, ...]:
        """What reads a node in its own function."""
        return self._consumers.get(self.node(name).name, ())

    def users(self, name: str | Buffer) -> tuple[Use, ...]:
        """What writes or reads a node, each once: first the producers."""
        return tuple(dict.fromkeys((*self.producers(name), *self.consumers(name))))

    def edges_of(self, name: str | Buffer) -> tuple[BufferEdge, ...]:
        """The edges from and to a node."""
        return self._around.get(self.node(name).name, ())

    def equivalent(self, name: str | Buffer) -> tuple[str, ...]:
        """All nodes that are the same array as a node, or share a layout with it, itself first."""
        found = [self.node(name).name]
        seen = set(found)
        for current in found:
            for edge in self._around.get(current, ()):
                for other in (edge.source, edge.target):
                    if other not in seen:
                        seen.add(other)
                        found.append(other)
        return tuple(found)

    def node(self, name: str | Buffer) -> BufferNode:
        """The node of a name or a handle. Raises ScheduleError with the nearest name if there is none."""
        if not isinstance(name, str | Buffer):
            raise ScheduleError(
                f"a node is named by a string or a handle such as s.A, got {type(name).__name__} {name!r}"
            )
        wanted = str(name)
        if wanted not in self.nodes:
            hint = nearest(wanted, self.nodes) or f"the nodes are {', '.join(self.nodes)}"
            raise ScheduleError(f"the dataflow graph has no node '{wanted}'", hint=hint)
        return self.nodes[wanted]


@reads_programs
def dataflow_graph(module: Module) -> DataflowGraph:
    """The graph of a module as it is now."""
    arrays = ArrayGraph(module)
    nodes: dict[str, BufferNode] = {}
    names: list[str] = []
    for array in arrays.nodes:
        value, op = array.value, array.op
        at = buffer_location(value) if value is not None else location_of(op) if op is not None else None
        name = f"{array.function}:{array.name}" if array.function else array.name
        if array.role is ArrayRole.VIEW and name in nodes:  # the same array under the same name
            names.append(name)
            continue
        count = 2
        while name in nodes:
            name, count = f"{array.function}:{array.name}#{count}", count + 1
        buffer = name.removeprefix(f"{array.function}:")
        nodes[name] = BufferNode(array.function, buffer, array.role, str(array.type), at, details_of(array.type))
        names.append(name)
    edges = [
        BufferEdge(link.kind, names[link.source], names[link.target], location_of(link.op))
        for link in arrays.links
        if names[link.source] != names[link.target]
    ]
    around: dict[str, list[BufferEdge]] = {}
    for edge in edges:
        around.setdefault(edge.source, []).append(edge)
        around.setdefault(edge.target, []).append(edge)
    producers, consumers = _uses(module, arrays, names)
    return DataflowGraph(MappingProxyType(nodes), tuple(edges), producers, consumers, _frozen(around))


def _uses(
    module: Module, arrays: ArrayGraph, names: list[str]
) -> tuple[Mapping[str, tuple[Use, ...]], Mapping[str, tuple[Use, ...]]]:
    written: dict[str, list[Use]] = {}
    read: dict[str, list[Use]] = {}
    effects = Effects(module)
    for function in module.functions():
        entry = entry_block(function)
        for top in entry.operations if entry is not None else ():
            for op in with_inner(top.operation):
                for values, found in zip(_touched(effects, op), (written, read), strict=True):
                    for value in values:
                        use = _use(function.name.value, top.operation, op)
                        uses = found.setdefault(names[arrays.number(value)], [])
                        if use not in uses[-1:]:
                            uses.append(use)
    return _frozen(written), _frozen(read)


def _touched(effects: Effects, op: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
    """The values of a function that an operation writes or puts into, and those that it reads or gets from."""
    operands = list(op.operands)
    own = [(effect, operands[effect.operand]) for effect in effects.of(op) if not effect.symbol]
    written = [_node(value) for effect, value in own if effect.writes or effect.puts]
    read = [_node(value) for effect, value in own if effect.reads or effect.gets]
    if op.name == "func.call":
        written += [result for result in op.results if is_array(result.type)]
    if op.name == "func.return":
        read += [value for value in operands if is_array(value.type)]
    return written, read


def _node(value: ir.Value) -> ir.Value:
    """A stream that is taken from an array of streams is no node of its own."""
    return base_of(value) if is_stream(value.type) else value


def _use(function: str, top: ir.Operation, op: ir.Operation) -> Use:
    if op.name == "func.call":
        return Use(function, callee_name(op), "call", location_of(op))
    nest = string_of(top, "allo.nest")
    if nest is not None:
        return Use(function, nest, "nest", location_of(top))
    kind = "return" if op.name == "func.return" else "statement"
    return Use(function, op.name, kind, location_of(op))


def _frozen[T](found: Mapping[str, Iterable[T]]) -> Mapping[str, tuple[T, ...]]:
    return MappingProxyType({name: tuple(dict.fromkeys(items)) for name, items in found.items()})
