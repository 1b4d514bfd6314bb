"""Walks through a function: its loops, its buffers and their origins; the only walker of the package."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

from mlir import ir

from allo import _mlir

from ..errors import Location

ANNOTATIONS = ("allo.pipeline", "allo.rewind", "allo.unroll", "allo.parallel", "allo.spatial", "allo.dataflow")
LOOP_OPERATIONS = ("affine.for", "scf.for", "scf.while")
# a constant of fixed-point numbers or structs has two values of one name; accesses are on the second one
_BUFFER_OPERATIONS = ("memref.alloc", "memref.get_global", "allo.element_cast", "func.call")


class LoopView(NamedTuple):
    """A loop operation with its place in the tree; valid until the function is rewritten."""

    op: ir.Operation
    name: str
    nest: str
    parent: LoopView | None
    own_nest: str | None  # the name of the nest that starts here, if somebody gave it one

    @property
    def chain(self) -> tuple[LoopView, ...]:
        """The loops around this one and itself, outermost first."""
        return (*(self.parent.chain if self.parent else ()), self)

    @property
    def body(self) -> ir.Block:
        """The block that is repeated."""
        region = self.op.regions[1] if self.op.name == "scf.while" else self.op.regions[0]
        return region.blocks[0]


def string_of(op: ir.Operation, name: str) -> str | None:
    """The value of a string attribute, if `op` has it."""
    return ir.StringAttr(op.attributes[name]).value if name in op.attributes else None


def annotations_of(op: ir.Operation) -> list[str]:
    """What primitives have noted on a loop or function, as texts such as `pipeline=2`, `parallel`."""
    marks = []
    for name in ANNOTATIONS:
        if name in op.attributes:
            text = str(op.attributes[name]).split(" :")[0]
            mark = name.removeprefix("allo.")
            marks.append(mark if text == "unit" else f"{mark}={text}")
    return marks


def statements(block: ir.Block) -> list[ir.Operation]:
    """The operations of a block itself, as they are now, in the order of the text."""
    return _mlir.statements(block)


def statement_of(op: ir.Operation) -> ir.Operation:
    """The statement of its function that an operation is, or is in."""
    while op.parent is not None and op.parent.operation.name != "func.func":
        op = op.parent.operation
    return op


def operations(block: ir.Block, *names: str) -> list[ir.Operation]:
    """The operations of a block and of all regions below it as they are now, in the order of the text.

    With `names`, only those of these names: much cheaper than to look through all.
    """
    return _mlir.find_operations(block, names)


def array_operations(block: ir.Block, *names: str) -> Iterator[tuple[ir.Operation, str | None]]:
    """As `operations`, those of these names and those with a result that is an array or a stream; with their names."""
    return ((op, name) for op, _, name, _ in _mlir.find_nested(block, names, arrays=True))


def entry_block(function: ir.OpView) -> ir.Block | None:
    """The first block of a function; None for a declaration."""
    return next(iter(function.operation.regions[0].blocks), None)


def loops_of(function: ir.OpView) -> list[LoopView]:
    """All loops of a function, outer before inner."""
    entry = entry_block(function)
    found: list[LoopView] = []
    for op, around, given, nest in _mlir.find_nested(entry, LOOP_OPERATIONS) if entry is not None else ():
        parent = found[around] if around >= 0 else None
        name = given or f"loop_{len(found)}"
        found.append(LoopView(op, name, parent.nest if parent else nest or name, parent, nest))
    return found


def buffers_of(function: ir.OpView) -> dict[str, ir.Value]:
    """All named arrays of a function: arguments, then local ones and constants in the order of the text."""
    found: dict[str, ir.Value] = {}
    entry = entry_block(function)
    if entry is None:
        return found
    for name, argument in zip(argument_names(function), entry.arguments, strict=True):
        if isinstance(argument.type, ir.MemRefType):
            found[name] = argument
    for op, _, given, _ in _mlir.find_nested(entry, _BUFFER_OPERATIONS):
        if given is not None and len(op.results):  # a call may have a name and no result
            found[given] = op.results[0]
    return found


def buffer_name(op: ir.Operation) -> str | None:
    """The name of the array that an operation makes, if it makes one that has a name."""
    return string_of(op, "allo.name") if op.name in _BUFFER_OPERATIONS else None


def argument_names(function: ir.OpView) -> list[str]:
    """The names of the arguments; `arg0`, ... where the module gives none."""
    attributes = function.operation.attributes
    if "arg_attrs" in attributes:
        given = _given_names(attributes["arg_attrs"])
    else:
        given = (None,) * len(ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).inputs)
    return [name or f"arg{position}" for position, name in enumerate(given)]


def argument_name(value: ir.Value) -> str | None:
    """The name that the module gives an argument of a function; None for one without, or of another block."""
    argument = ir.BlockArgument(value)
    attributes = argument.owner.owner.operation.attributes
    return _given_names(attributes["arg_attrs"])[argument.arg_number] if "arg_attrs" in attributes else None


@functools.cache
def _given_names(attributes: ir.Attribute) -> tuple[str | None, ...]:
    """The `allo.name` of each argument; all states of a function share one attribute."""
    marks = map(ir.DictAttr, ir.ArrayAttr(attributes))
    return tuple(ir.StringAttr(m["allo.name"]).value if "allo.name" in m else None for m in marks)


def location_of(op: ir.Operation) -> Location | None:
    """The line of the kernel that `op` comes from."""
    return file_location(op.location)


def file_location(location: ir.Location) -> Location | None:
    """The place in a file that `location` is."""
    if location.is_a_file():
        return Location(location.filename, location.start_line, location.start_col)
    return None


def buffer_location(value: ir.Value) -> Location | None:
    """The line of the kernel that declares a buffer."""
    return file_location(value.location if isinstance(value.owner, ir.Block) else value.owner.location)


def constant_bounds(loop: ir.Operation) -> tuple[int, int, int] | None:
    """(lower, upper, step) of an `affine.for` whose bounds are constants, else None."""
    if loop.name != "affine.for":
        return None
    bounds = []
    for attribute in ("lowerBoundMap", "upperBoundMap"):
        results = ir.AffineMapAttr(loop.attributes[attribute]).value.results
        if len(results) != 1 or not isinstance(results[0], ir.AffineConstantExpr):
            return None
        bounds.append(results[0].value)
    return bounds[0], bounds[1], ir.IntegerAttr(loop.attributes["step"]).value


def trip_count(loop: ir.Operation) -> int | None:
    """How often the body of a loop with constant bounds runs."""
    bounds = constant_bounds(loop)
    if bounds is None:
        return None
    lower, upper, step = bounds
    return max(0, -(-(upper - lower) // step))


def bound_operands(loop: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
    """The operands of the lower and of the upper bound of an `affine.for`."""
    lower = ir.AffineMapAttr(loop.attributes["lowerBoundMap"]).value
    upper = ir.AffineMapAttr(loop.attributes["upperBoundMap"]).value
    operands = list(loop.operands)
    first, second = lower.n_inputs, lower.n_inputs + upper.n_inputs
    return operands[:first], operands[first:second]


def induction_variable(loop: ir.Operation) -> ir.Value:
    """The loop variable."""
    return loop.regions[0].blocks[0].arguments[0]
