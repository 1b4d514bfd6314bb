"""Bodies of tasks at one position, with parts of arrays in the place of the arrays that they are parts of."""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import gcd, prod

from mlir import ir

from ...errors import Location, TargetError
from ...frontend.emit.given_code import EXTERNAL
from ...ir.access import access_map, accessed, callee_name, is_end, is_get, is_store, subscripts
from ...ir.builder import Builder, affine_constant, index_type
from ...ir.context import unknown_location
from ...ir.inlining import leave_affine, replace_call
from ...ir.module import Module
from ...ir.streams import declared_sides, is_stream, is_stream_type
from ...ir.walk import (
    argument_names,
    entry_block,
    location_of,
    operations,
    statement_of,
    statements,
    string_of,
)
from ...ir.words import container_width
from ...poly import model_of
from ..element_class import set_signature
from .blocks import overwritten_blocks
from .constants import constant_place
from .reached import ElementBox, Reach, box_around, reach_of, steps_in

_PLAIN = ("arith.", "math.", "scf.", "affine.")
_MEMORY = ("memref.alloc", "memref.load", "memref.store", "memref.copy", "func.return", "memref.dealloc")
_BITS = ("allo.sign_cast", "allo.bitcast", "allo.get_bit", "allo.set_bit", "allo.get_slice", "allo.set_slice",
         "allo.reverse_bits")  # fmt: skip
ELEMENTS = ("i8", "i16", "i32", "ui8", "ui16", "ui32", "f16", "bf16", "f32")  # what DMA engines move
_WIDEST = 64


type Boxes = tuple[ElementBox | None, ...]  # of each argument; None of those that are not moved


@dataclass(frozen=True, slots=True)
class LocalBody:
    """A function of a task at one position.

    `boxes` tell of each argument of the function that the task was made as which part of the array it is now; None for
    streams. `gets` and `puts` are the numbers of those; `blocks` are those of which it has one block, as an array,
    with those that it may overwrite by it. `arrays` are places of arrays that it makes, and their bytes.
    """

    name: str
    boxes: Boxes
    puts: tuple[int, ...]
    gets: tuple[int, ...]
    blocks: dict[int, frozenset[int]]
    arrays: tuple[tuple[str, int], ...]

    def inside(self, outer: Boxes) -> LocalBody:
        """The same for a function of which the parts `outer` were taken first."""
        boxes = zip(self.boxes, outer, strict=True)
        return replace(self, boxes=tuple(own and around and own.inside(around) for own, around in boxes))


def inline_calls(module: Module, name: str) -> None:
    """Put the bodies of functions in the place of their calls, in place; TargetError for what has no body."""
    entry = entry_block(module.function(name))
    assert entry is not None
    while calls := [call for call in operations(entry, "func.call") if not is_external(module, call)]:
        for call in calls:
            callee = module.function(callee_name(call))
            if entry_block(callee) is None:
                raise TargetError(
                    f"'{callee.name.value}' has no body that cores could run: it is code for the host",
                    at=location_of(call),
                    hint="write it as a kernel",
                )
            replace_call(call, callee.operation.clone(ir.InsertionPoint(callee.operation)))
    leave_affine(module.function(name).operation)


def external_functions(module: Module) -> list[ir.Operation]:
    """The declarations of functions of C++."""
    return [function.operation for function in module.functions() if EXTERNAL in function.operation.attributes]


def is_external(module: Module, call: ir.Operation) -> bool:
    """Whether a call is of a function of C++."""
    return EXTERNAL in module.function(callee_name(call)).operation.attributes


def demand_for_cores(module: Module, name: str) -> None:
    """Raises TargetError for operations and elements that cores of the array have not."""
    function = module.function(name)
    entry = entry_block(function)
    assert entry is not None
    for op in operations(entry):
        at = location_of(op)
        if op.name == "func.call":
            _demand_linkable(module.function(callee_name(op)).operation, at)
            continue
        if not (op.name.startswith(_PLAIN) or op.name in (*_MEMORY, *_BITS) or is_end(op)):
            what = {
                "memref.subview": ("parts of arrays are not passed on in cores", "use single elements"),
            }.get(op.name, (f"cores have no '{op.name}'", "write it with loops, loads, stores and arithmetic"))
            raise TargetError(what[0], at=at, hint=what[1])
        if op.name == "memref.alloc":
            _demand_element(ir.MemRefType(op.results[0].type).element_type, at)


def implementations(external: ir.Operation) -> tuple[str, ...]:
    """The files that define a function of C++."""
    facts = ir.DictAttr(external.attributes[EXTERNAL])
    return tuple(ir.StringAttr(file).value for file in ir.ArrayAttr(facts["implementations"]))


def _demand_linkable(external: ir.Operation, at: Location | None) -> None:
    """Cores link one object file a function, by its name."""
    facts = ir.DictAttr(external.attributes[EXTERNAL])
    name = string_of(external, "sym_name")
    is_plain = ir.StringAttr(facts["top"]).value == name and not declared_sides(external.opview)
    if not is_plain or len(implementations(external)) != 1:
        raise TargetError(
            f"cores link functions of C++ that are in one file, take arrays, and are no templates; '{name}' is not",
            at=at,
            hint='write a function like `extern "C" void f(int32_t *a, int32_t *b)`',
        )


def _demand_element(kind: ir.Type, at: Location | None) -> None:
    """Arrays within a core may have integers of any width up to 64, which take the next width of a memory."""
    is_integer = isinstance(kind, ir.IntegerType) and kind.width <= _WIDEST
    if not (is_integer or isinstance(kind, ir.IndexType) or str(kind) in ELEMENTS or is_stream_type(kind)):
        raise TargetError(
            f"cores keep no elements of type {kind}; there are integers of up to {_WIDEST} bits, f16, bf16 and f32",
            at=at,
            hint="say so where it is made: `x: int32[...] = ...`",
        )


def demand_moved(kind: ir.Type, what: str, at: Location | None) -> None:
    """Raises TargetError for elements that no DMA engine moves."""
    if str(kind) not in ELEMENTS:
        raise TargetError(
            f"{what} has elements of type {kind}; what is moved are {', '.join(ELEMENTS)}", at=at,
            hint="declare it with one of these",
        )  # fmt: skip


def moved_arguments(function: ir.OpView, blocks: Table[int, bool]) -> list[int]:
    """The arguments of a function that are moved: no streams, and no `blocks` of them."""
    entry = entry_block(function)
    assert entry is not None
    return [n for n, value in enumerate(entry.arguments) if not is_stream(value.type) and n not in blocks]


def reach_of_arguments(module: Module, name: str, numbers: Sequence[int]) -> dict[int, Reach | None]:
    """What the accesses of a function to some of its arguments reach."""
    entry = entry_block(module.function(name))
    assert entry is not None
    model = model_of(module, name) if numbers else None
    return {number: reach_of(model, entry.arguments[number]) for number in numbers if model}


def boxes_of(function: ir.OpView, reach: Table[int, Reach | None], parts: Table[int, ElementBox]) -> Boxes:
    """The boxes of the arguments that are moved, of which `reach` tells: inside of the `parts` that a task has."""
    entry, names = entry_block(function), argument_names(function)
    assert entry is not None
    return tuple(
        _box(reach[number], function, value, names[number], parts.get(number)) if number in reach else None
        for number, value in enumerate(entry.arguments)
    )


def localized(module: Module, name: str, into: Module, blocks: Table[int, bool], boxes: Boxes) -> LocalBody:
    """Write function `name` into another module, for parts of its arrays: the boxes that its accesses lie in.

    Streams stay; `blocks` are arrays that are blocks of streams, and whether they are put.
    Raises TargetError for streams that are used otherwise than by puts and gets.
    """
    function = module.function(name)
    names = argument_names(function)
    end = ir.InsertionPoint(into.mlir.body)
    made = function.operation.clone(end)
    block = made.regions[0].blocks[0]
    puts = [number for number, is_put in blocks.items() if is_put]
    gets = [number for number, is_put in blocks.items() if not is_put]
    for number, (argument, box) in enumerate(zip(block.arguments, boxes, strict=True)):
        if box is not None:
            _rebase(argument, box)
        if box is not None or number in blocks:
            continue
        ends = [use.owner.operation for use in argument.uses]
        other = next((op for op in ends if not is_end(op)), None)
        if other is not None:
            raise TargetError(
                f"streams on an array of processors are put into and got from; cores have no '{other.name}'",
                at=location_of(other), hint="get an element, and keep it as long as it is needed",
            )  # fmt: skip
        if any(map(is_get, ends)):
            gets.append(number)
        if not all(map(is_get, ends)) or not ends:
            puts.append(number)
    set_signature(made, names)
    over = overwritten_blocks(block, blocks)
    return LocalBody(name, boxes, tuple(puts), tuple(gets), over, local_arrays(block))


def _box(
    reach: Reach | None, function: ir.OpView, array: ir.Value, label: str, part: ElementBox | None
) -> ElementBox:
    """The box of an argument that is moved, of which a task may be declared to have a `part`."""
    kind = ir.MemRefType(array.type)
    if is_stream_type(kind.element_type):
        raise TargetError(
            f"which stream of '{label}' is used is not known before the program runs",
            at=location_of(next(use.owner.operation for use in array.uses)),
            hint="let the position, or a loop over the streams, say which one it is",
        )
    demand_moved(kind.element_type, f"argument '{label}'", location_of(function.operation))
    found, unit = box_around(reach, tuple(kind.shape), part), max(32 // bits_of(kind.element_type), 1)
    steps = _steps(reach, array, found.low, unit)
    if steps:
        extents = tuple(-(-n // step) for n, step in zip(found.extents, steps, strict=True))
        found = ElementBox(found.low, extents, steps)
    if steps and steps[-1] > 1:
        return found
    if kind.shape[-1] % unit and len(kind.shape) > 1:
        is_stored = any(is_store(use.owner.operation) for use in array.uses)
        return found if steps or is_stored else _with_rows_of_words(found, kind.shape, unit)
    low, end = found.low[-1], found.low[-1] + found.extents[-1]
    whole = min(-(-end // unit) * unit, kind.shape[-1])  # words of rows
    if any(is_store(use.owner.operation) for use in array.uses):  # what is beside it may be that of others
        whole = whole if kind.shape == [whole] else end  # but for what fills an array up
    else:
        low = low // unit * unit
    return ElementBox((*found.low[:-1], low), (*found.extents[:-1], whole - low), steps)


def _with_rows_of_words(box: ElementBox, shape: Sequence[int], unit: int) -> ElementBox:
    """A box of whole rows that are no words, with those around it with which it is made of words."""
    if box.extents[-1] != shape[-1]:
        return box
    rows = unit // gcd(unit, shape[-1])
    low, end = box.low[-2] // rows * rows, box.low[-2] + box.extents[-2]
    end = min(-(-end // rows) * rows, shape[-2])
    return ElementBox((*box.low[:-2], low, 0), (*box.extents[:-2], end - low, shape[-1]))


def _steps(reach: Reach | None, array: ir.Value, low: Sequence[int], unit: int) -> tuple[int, ...]:
    """The steps by which the elements of a box are used, that DMA engines can make; none if all of these are 1.

    Single elements that do not follow one another are moved if they are words, and written: reading all between them
    is faster. An array that is passed on or looked at otherwise than by loads and stores is one part.
    """
    users = [use.owner.operation for use in array.uses]
    steps = steps_in(reach, low)
    if steps is None or not users or any(access_map(op) is None for op in users):
        return ()
    if unit > 1 or not any(map(is_store, users)):
        steps[-1] = 1
    return tuple(steps) if max(steps) > 1 else ()


def _rebase(argument: ir.Value, box: ElementBox) -> None:
    """Let an argument be the part of the array, and all accesses to it count from its first element."""
    kind = ir.MemRefType(argument.type)
    whole = box.extents == tuple(kind.shape)
    for op in [] if whole else [use.owner.operation for use in argument.uses]:
        assert accessed(op) == argument
        own = access_map(op)
        if own is not None:
            steps = box.steps or (1,) * len(box.low)
            results = [
                ir.AffineExpr.get_floor_div(expr - affine_constant(low), step)
                for expr, low, step in zip(own.results, box.low, steps, strict=True)
            ]
            moved = ir.AffineMap.get(own.n_dims, own.n_symbols, results, op.context)
            op.attributes["map"] = ir.AffineMapAttr.get(moved)
            continue
        builder = Builder.before(op)
        first = 2 if is_store(op) else 1
        for d, (value, low) in enumerate(zip(subscripts(op), box.low, strict=True)):
            if low:
                shift = builder.constant(index_type(), low)
                op.operands[first + d] = builder.value("arith.subi", index_type(), [value, shift])
    argument.set_type(ir.MemRefType.get(box.extents, kind.element_type, loc=unknown_location()))


def places_of_arrays(block: ir.Block) -> list[tuple[ir.Operation, str]]:
    """The arrays that a function makes, each with its place in memory: arrays of one type share one if all that uses
    the first comes before all that uses the second. Functions that run one after the other have the same places."""
    order = {op: number for number, op in enumerate(statements(block))}
    spans: list[tuple[int, int, ir.Operation]] = []
    for op in operations(block, "memref.alloc"):
        used = [order[statement_of(user)] for user in (op, *(use.owner.operation for use in op.results[0].uses))]
        spans.append((min(used[1:], default=used[0]), max(used), op))
    found: list[tuple[ir.Operation, str]] = []
    until: dict[str, int] = {}
    for first, last, op in sorted(spans, key=lambda span: span[:2]):
        names = (f"{op.results[0].type} {number}" for number in count())
        place = constant_place(op) or next(name for name in names if until.get(name, -1) < first)
        until[place] = last
        found.append((op, place))
    return found


def local_arrays(block: ir.Block) -> tuple[tuple[str, int], ...]:
    """The places of the arrays that a function makes, with their bytes."""
    found = {}
    for op, place in places_of_arrays(block):
        kind = ir.MemRefType(op.results[0].type)
        bits = _WIDEST if isinstance(kind.element_type, ir.IndexType) else container_width(bits_of(kind.element_type))
        found[place] = prod(kind.shape) * bits // 8
    return tuple(sorted(found.items()))


def bits_of(kind: ir.Type) -> int:
    """The bits of an element."""
    return int(kind.width)
