"""Regions with vector kernels: products in their tasks become calls, and layouts move into DMA engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mlir import ir

from ....ir.access import callee_name
from ....ir.builder import Builder
from ....ir.context import context
from ....ir.module import Module
from ....ir.walk import argument_names, entry_block, operations, statements
from ....layout import ArrayMove
from ....mapping import StreamEnd, VirtualGraph, VirtualNode
from ....target import ProcessorArray
from ..blocks import overwritten_blocks
from ..localize import local_arrays
from .flat import flatten_arrays
from .inject import Injection, KernelChoice, chosen
from .layouts import KeptCopy, Place, give_layout, stream_layouts, wanted_layout
from .loops import loop_kernel
from .move_calls import lower_move, move_in
from .simplify import simplify_moves
from .source import declare_kernel, in_place

type Costs = Callable[[ir.Operation, Mapping[ir.Operation, int]], tuple[int, Mapping[str, int]]]


@dataclass(frozen=True, slots=True)
class KernelRegion:
    """A graph whose functions call kernels, with what was chosen, and the copies that cores still do."""

    graph: VirtualGraph
    bodies: Module
    choices: tuple[KernelChoice, ...]
    copies: tuple[KeptCopy, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.choices, *self.copies))) or "no nest is a kernel"


def with_kernels(
    graph: VirtualGraph, bodies: Module, array: ProcessorArray, refused: Mapping[Place, str], costs: Costs
) -> KernelRegion:
    """The region with kernels for the vector unit; parameters that are `refused` are rows, and cores copy them.

    `costs` are the cycles of a nest on the vector unit, some loops of which are on lanes, and the products of elements
    that it sums.
    """
    made = bodies.clone()
    choices: list[KernelChoice] = []
    injected: set[str] = set()
    for name in graph.classes():
        one = Injection(made, name, array)
        if one.run():
            injected.add(name)
            flatten_arrays(made.function(name))
            _let_declarations_be_flat(made, name)
            simplify_moves(made, name)
        choices += one.choices
    orders, copies = _orders(made, graph, injected, refused)
    for place in orders:
        give_layout(made, place)
    for name in injected:
        simplify_moves(made, name)
    copies += _lowered(made, injected, copies)
    for name in graph.classes():
        choices += _loops(made, name, graph, costs)
    nodes = tuple(_rewritten(made, node, orders) if node.function in injected else node for node in graph.nodes)
    return KernelRegion(replace(graph, nodes=nodes), made, tuple(choices), tuple(dict.fromkeys(copies)))


def _loops(module: Module, name: str, graph: VirtualGraph, costs: Costs) -> list[KernelChoice]:
    """Let the nests that are left in a function be kernels on lanes, in place, where they can."""
    entry = entry_block(module.function(name))
    assert entry is not None
    node = next(node for node in graph.nodes if node.function == name)
    shared = [entry.arguments[end.parameter] for end in node.ends if end.over is not None]
    told: list[KernelChoice] = []
    for nest in [op for op in statements(entry) if op.name == "affine.for"]:
        made = loop_kernel(nest, shared)
        if isinstance(made, str):
            told.append(chosen(name, nest, None, made))
            continue
        told.append(chosen(name, nest, made.name))
        cycles, summed = costs(nest, made.lanes)
        kinds = [array.type for array in made.arrays]
        declare_kernel(module, made.name, made.text, kinds, made.written, cycles, summed)
        callee = {"callee": ir.FlatSymbolRefAttr.get(made.name, context())}
        Builder.before(nest).op("func.call", (), list(made.arrays), callee)
        nest.erase()
    return told


def _orders(
    module: Module, graph: VirtualGraph, injected: set[str], refused: Mapping[Place, str]
) -> tuple[dict[Place, ArrayMove], list[KeptCopy]]:
    """The parameters that get another layout, and those that do not though it is wanted."""
    streams, kept = stream_layouts(module, graph, injected)
    found: dict[Place, ArrayMove] = {}
    for place in streams:
        layout = wanted_layout(module, place)
        assert isinstance(layout, ArrayMove)
        found[place] = layout
    parts = {(node.function, use.parameter) for node in graph.nodes for use in node.parts}
    for place in sorted(parts):
        layout = wanted_layout(module, place) if place[0] in injected else None
        reason = refused.get(place) or (layout if isinstance(layout, str) else None)
        if reason is not None and layout is not None:
            kept.append(KeptCopy(place[0], argument_names(module.function(place[0]))[place[1]], reason))
        elif isinstance(layout, ArrayMove):
            found[place] = layout
    return found, kept


def _let_declarations_be_flat(module: Module, name: str) -> None:
    """Let declarations of moves have the types of what is passed."""
    entry = entry_block(module.function(name))
    assert entry is not None
    for call in operations(entry, "func.call"):
        if move_in(module, call) is not None:
            declared = module.function(callee_name(call)).operation
            kinds = [operand.type for operand in call.operands]
            declared.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [], context()), context())


def _lowered(module: Module, injected: set[str], known: list[KeptCopy]) -> list[KeptCopy]:
    """Let moves that are left be loops; those between arrays of a task are told too."""
    told: list[KeptCopy] = []
    for name in sorted(injected):
        entry = entry_block(module.function(name))
        assert entry is not None
        names = argument_names(module.function(name))
        for call in operations(entry, "func.call"):
            move = move_in(module, call)
            if move is None:
                continue
            outer = [value for value in call.operands if isinstance(value.owner, ir.Block)]
            labels = {names[value.arg_number] for value in outer}
            if not any(own.function == name and own.array in labels for own in known) and not move.is_identity:
                label = ", ".join(sorted(labels)) or "an array of the task"
                told.append(KeptCopy(name, label, "it stays in the memory of one core, where no DMA engine moves it"))
            lower_move(module, call)
    return told


def _rewritten(module: Module, node: VirtualNode, orders: Mapping[Place, ArrayMove]) -> VirtualNode:
    """A node whose function has been written anew."""
    entry = entry_block(module.function(node.function))
    assert entry is not None
    same = ArrayMove.of([1], [1], [1])
    parts = tuple(
        replace(use, part=replace(use.part, order=orders.get((node.function, use.parameter), same)))
        for use in node.parts
    )
    blocks = {end.parameter: end.puts for end in node.ends if end.over is not None}
    over = overwritten_blocks(entry, blocks) if blocks else {}
    for number, is_put in blocks.items():
        if is_put:
            over[number] |= _under_kernels(module, entry, number, [k for k, puts in blocks.items() if not puts])
    ends = tuple(_with_over(end, over) for end in node.ends)
    return replace(node, parts=parts, ends=ends, arrays=local_arrays(entry))


def _with_over(end: StreamEnd, over: Mapping[int, frozenset[int]]) -> StreamEnd:
    return end if end.over is None else replace(end, over=over.get(end.parameter, frozenset()))


def _under_kernels(module: Module, entry: ir.Block, put: int, gets: list[int]) -> frozenset[int]:
    """Blocks that a kernel reads where it writes the block `put`."""
    users = [use.owner.operation for use in entry.arguments[put].uses]
    if len(users) != 1 or users[0].name != "func.call":
        return frozenset()
    (call,) = users
    places = in_place(module.function(callee_name(call)).operation)
    last = len(call.operands) - 1
    if call.operands[last] != entry.arguments[put]:
        return frozenset()
    alone = [k for k in gets if len(list(entry.arguments[k].uses)) == 1]
    return frozenset(k for k in alone if any(call.operands[p] == entry.arguments[k] for p in places))
