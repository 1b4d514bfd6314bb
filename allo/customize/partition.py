"""partition: divide an array into banks that can be accessed at the same time."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from functools import lru_cache

from mlir import ir

from ..errors import LayoutConflict, Note, ScheduleError
from ..ir.array_graph import ArrayGraph
from ..ir.function_arrays import ArrayRole
from ..ir.module import Module
from ..ir.partitions import divisions_of, with_divisions
from ..ir.shared_arrays import Place, SharedArrays
from ..ir.states import Draft
from ..layout import NONE, Banks, Division, PartitionLayout, infer
from .step.handles import Buffer
from .step.primitive import earlier_steps, primitive
from .step.record import Step

_DYNAMIC = ir.ShapedType.get_dynamic_size()


class Partition(Enum):
    """How the elements of a dimension are dealt to banks; as a number 0, 1, 2."""

    Complete = "complete"  # each element is a bank (a register)
    Block = "block"  # `factor` runs of consecutive elements
    Cyclic = "cyclic"  # element i goes to bank i mod factor


@primitive(whole_module=True)  # layouts meet over the call graph, and with those of earlier steps
def partition(
    module: Draft,
    buffer: Buffer,
    partition_type: Partition | None = None,
    dim: int | tuple[int, ...] = 0,
    factor: int = 0,
) -> None:
    """Divide dimension `dim` of `buffer` (from 1; 0 means all) into banks: cyclic if a factor is given, else complete.

        A: T[M, N]   ->   A: T[M, N] in banks; written in the type, memref<MxNxT, #allo.partition<[...]>>

    Several dimensions are given as a list. Always legal: values do not change. The layout travels to all functions
    that the array is passed to or comes from, and to all uses of a constant; where different requests meet in one
    array, it gets the layout that serves them all (cyclic 4 and cyclic 6 make cyclic 12, cyclic 4 and block 2 a
    complete partition), and `s.report()` says so. Refused: a dimension that the array has not, a factor below 2 for
    block and cyclic or above the extent, a factor for complete, another division for a dimension that the same
    buffer was asked to be divided in before (`LayoutConflict`; in another shape it may be divided anew), an array that
    goes to a function without a body. Source: Allo paper, Table 2, section 6.4 and Algorithm 2.
    """
    graph = SharedArrays(module.before.parts)
    start = graph.find(buffer.function, buffer.name)
    declared = graph.array(start)
    shape = _shape(declared.type)
    note = Note(f"'{buffer.name}' is declared here", declared.location)
    kind = _kind(partition_type, factor)
    _check_factor(kind, factor, note)
    if not shape:
        raise ScheduleError(f"'{buffer.name}' is a scalar and has no dimension to divide", notes=[note])
    positions = _positions(buffer, dim, len(shape), note)
    wanted = Banks(Division(kind.value), factor)
    _check_extents(buffer, shape, positions, wanted, note)
    members = graph.same(start)
    names = {(member[0], graph.array(member).name) for member in members}
    _check_earlier(buffer, partitions_asked(earlier_steps(), names), positions, wanted, shape, note)
    _check_members(graph, members, buffer, positions, note)
    asked = [NONE] * len(shape)
    for position in positions:
        asked[position] = wanted
    layouts = {member: _layout(graph.array(member).type, shape) for member in members}
    changed = infer(layouts, graph.neighbours, [(start, PartitionLayout.of(shape, tuple(asked)))])
    types: dict[str, dict[int, ir.Type]] = {}
    for member, layout in changed.items():
        types.setdefault(member[0], {})[member[1]] = _with_layout(graph.array(member).type, layout)
    module.retype(types)


def partition_notes(module: Module, value: ir.Value) -> list[Note]:
    """The earlier steps that gave an array its layout, or one that calls join it to."""
    graph = ArrayGraph(module)
    joined = {(graph.nodes[k].function, graph.nodes[k].name) for k in graph.same(graph.number(value))}
    asked = [step for step in earlier_steps() if is_partition(step)]
    steps = [step for step in asked if _place(dict(step.arguments)["buffer"]) in joined]
    return [Note(f"the earlier step, {step}, is here", step.at) for step in steps]


def _place(buffer: Buffer) -> tuple[str, str]:
    return buffer.function, buffer.name


def is_partition(step: Step) -> bool:
    """Whether a step asks for a layout."""
    return step.name == partition.__name__


def partitions_asked(steps: Iterable[Step], names: Collection[tuple[str, str]]) -> list[Step]:
    """The `partition` steps on joined arrays, by function and name, since they last got another shape."""
    found: list[Step] = []
    for step in steps:
        for name, value in step.arguments:
            if name == "buffer" and isinstance(value, Buffer) and _place(value) in names:
                if is_partition(step):
                    found.append(step)
                elif step.traits.reshapes:
                    found.clear()
    return found


def asked_banks(step: Step, shape: tuple[int, ...]) -> dict[int, Banks]:
    """What a `partition` step asks for the dimensions (from 0) of an array of `shape`."""
    given = dict(step.arguments)
    factor, dim = given.get("factor", 0), given.get("dim", 0)
    wanted = Banks(Division(_kind(given.get("partition_type"), factor).value), factor)
    numbers = (dim,) if isinstance(dim, int) else dim
    positions = range(len(shape)) if 0 in numbers else [number - 1 for number in numbers]
    return {p: wanted.canonical(shape[p]) for p in positions if p < len(shape)}


def _kind(partition_type: Partition | None, factor: int) -> Partition:
    return partition_type or (Partition.Cyclic if factor else Partition.Complete)


def _positions(buffer: Buffer, dim: int | tuple[int, ...], rank: int, note: Note) -> list[int]:
    """The dimensions, counted from 0, that `dim` means."""
    given = (dim,) if isinstance(dim, int) else dim
    for number in given:
        if not 0 <= number <= rank:
            raise ScheduleError(
                f"dim must be from 0 to {rank} for '{buffer.name}' of {rank} dimensions, got {number}", notes=[note]
            )
    return list(range(rank)) if 0 in given else sorted({number - 1 for number in given})


def _check_factor(kind: Partition, factor: int, note: Note) -> None:
    if kind is Partition.Complete and factor:
        raise ScheduleError(
            f"a complete partition has no factor, got {factor}", hint="drop factor=", notes=[note]
        )
    if kind is not Partition.Complete and factor < 2:
        raise ScheduleError(
            f"a {kind.value} partition needs a factor of at least 2, got {factor}", notes=[note]
        )


def _check_extents(
    buffer: Buffer, shape: tuple[int, ...], positions: list[int], wanted: Banks, note: Note
) -> None:
    for position in positions:
        if shape[position] == _DYNAMIC:
            raise ScheduleError(
                f"the extent of dimension {position + 1} of '{buffer.name}' is known at run time only",
                hint="declare the argument with all extents",
                notes=[note],
            )
        extent = shape[position]
        if wanted.factor > extent:
            raise ScheduleError(
                f"factor {wanted.factor} is larger than the extent {extent} of dimension {position + 1}",
                notes=[note],
            )


def _check_earlier(
    buffer: Buffer, earlier: list[Step], positions: list[int], wanted: Banks, shape: tuple[int, ...], note: Note
) -> None:
    """One buffer cannot be asked, by name, to be divided in two ways."""
    for step in earlier:
        if dict(step.arguments)["buffer"] != buffer:
            continue
        before = asked_banks(step, shape)
        for position in positions:
            if before.get(position, wanted) not in (wanted, wanted.canonical(shape[position])):
                raise LayoutConflict(
                    f"dimension {position + 1} of '{buffer.name}' is asked to be {wanted} here, "
                    f"but {before[position]} by an earlier step",
                    hint="drop one of the two steps; only requests for different arrays that calls join are combined",
                    notes=[note, Note(f"the earlier step, {step}, is here", step.at)],
                )


def _check_members(
    graph: SharedArrays, members: list[Place], buffer: Buffer, positions: list[int], note: Note
) -> None:
    """Refuse where the layout cannot travel: to functions without a body, to extents known at run time."""
    for member in sorted(members, key=lambda member: graph.array(member).role is ArrayRole.VIEW):
        node = graph.array(member)
        if (call := graph.external(member)) is not None:
            raise ScheduleError(
                f"'{buffer.name}' goes to or comes from '{call.symbol}', whose body is not in the module, "
                "so that its layout cannot change there",
                hint="copy the array to a local one, and partition that",
                notes=[note, Note("the call is here", call.location)],
            )
        shape = _shape(node.type)
        for position in positions:
            if shape[position] == _DYNAMIC:
                raise ScheduleError(
                    f"'{buffer.name}' is also '{'' if member[1] < 0 else member[0]}:{node.name}', "
                    f"whose extent of dimension {position + 1} is known at run time only",
                    hint="declare it there with all extents",
                    notes=[note],
                )


@lru_cache(maxsize=1024)  # MLIR has each type once
def _shape(kind: ir.Type) -> tuple[int, ...]:
    return tuple(ir.MemRefType(kind).shape)


@lru_cache(maxsize=1024)
def _layout(kind: ir.Type, shape: tuple[int, ...]) -> PartitionLayout:
    return PartitionLayout.of(shape, Banks.read(divisions_of(kind)))


@lru_cache(maxsize=1024)
def _with_layout(kind: ir.Type, layout: PartitionLayout) -> ir.MemRefType:
    """The type of an array with this layout."""
    return with_divisions(kind, [d.entry for d in layout.dims])
