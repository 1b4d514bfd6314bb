"""Adoption of modules from text: their entry, and names for their loops and arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mlir import ir

from ...errors import KernelError, ScheduleError, counted
from ...ir.builder import string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.states import FinishedModule
from ...ir.walk import (
    LOOP_OPERATIONS,
    argument_names,
    buffers_of,
    entry_block,
    file_location,
    location_of,
    loops_of,
    operations,
    statements,
    string_of,
)
from ..step.region_stages import demand_legal_stages
from ..step.stream_ends import demand_all_single_ends, demand_ends_of_elements
from .adopt_layout import parsed
from .adopt_loops import count_with_sign
from .declared_orders import demand_declared_orders
from .foreign import check_calls, check_definitions, check_operations, check_strings, check_types
from .sound import check_sound

_LOOP_NAMES = "ijklmn"


def adopt(source: str | Path, link: Callable[[Module], None] | None = None) -> Module:
    """The module that a text or a file prints, with names where it has none; its entry is its last public function.

    A loop is named by its depth (`i`, `j`, ...), a nest `S_<loops>_<n>` as in kernels, an array `buffer`. Raises
    KernelError with the words of MLIR if that is not a valid module, or has no function. `link` gives the module code
    for functions without a body; KernelError for those that have none then, and for what kernels may not do either:
    leave an array, write a ROM, give a function one array twice.
    """
    if not isinstance(source, str | Path):
        raise KernelError(f"a module is read from its text or a Path, got {type(source).__name__} {source!r}")
    try:
        module = parsed(source)
    except ir.MLIRError as error:
        raise _invalid(source, error) from None
    check_strings(module)
    check_operations(module)
    check_types(module)
    check_calls(module)
    if link is not None:
        link(module)
    check_definitions(module)
    functions = [f for f in module.functions() if entry_block(f) is not None]
    public = [f for f in functions if string_of(f.operation, "sym_visibility") != "private"]
    if not public:
        raise KernelError("the module has no function to schedule")
    attributes = module.mlir.operation.attributes
    if "allo.top" not in attributes:
        attributes["allo.top"] = string_attr(public[-1].name.value)
    if module.top not in [f.name.value for f in functions]:
        raise KernelError(f"the module has no function '{module.top}', which allo.top names as its entry")
    for function in functions:
        _refuse_branches(function)
        _refuse_dimensions(function)
        count_with_sign(function)
        _name_arguments(function)
        _name_buffers(function)
        _name_loops(function)
    module.verify()
    finished = FinishedModule(module.mlir)
    check_sound(finished)
    try:
        demand_all_single_ends(finished)
        demand_ends_of_elements(finished)
        demand_legal_stages(finished)
        demand_declared_orders(finished)
    except ScheduleError as error:
        first = error.diagnostics[0]
        raise KernelError(first.message, at=first.notes[-1].at, notes=first.notes) from None
    return module


def _invalid(source: str | Path, error: ir.MLIRError) -> KernelError:
    """The first error that MLIR reports, with its place."""
    what = "the file" if isinstance(source, Path) else "the text"
    if not error.error_diagnostics:
        return KernelError(f"{what} is not a valid module: {error}")
    first = error.error_diagnostics[0]
    place = file_location(first.location)
    if place is None or isinstance(source, Path):
        return KernelError(f"{what} is not a valid module: {first.message}", at=place)
    return KernelError(f"{what} is not a valid module: line {place.line}, column {place.column}: {first.message}")


def _refuse_branches(function: ir.OpView) -> None:
    first, *others = function.operation.regions[0].blocks
    if others:
        raise KernelError(
            f"'{function.name.value}' branches between blocks: there are no loops and conditions that a schedule names",
            at=location_of(statements(first)[-1]),
            hint="write it with affine.for, scf.for, scf.while and scf.if; `mlir-opt --lift-cf-to-scf` makes these",
        )


def _refuse_dimensions(function: ir.OpView) -> None:
    """MLIR ends the process when it folds the extent of a dimension that an array has not."""
    entry = entry_block(function)
    for op in operations(entry, "memref.dim") if entry is not None else ():
        number = op.operands[1].owner
        if isinstance(number, ir.Block) or number.operation.name != "arith.constant":
            continue
        asked = ir.IntegerAttr(number.operation.attributes["value"]).value
        rank = len(ir.MemRefType(op.operands[0].type).shape)
        if not 0 <= asked < rank:
            raise KernelError(
                f"memref.dim asks for dimension {asked} of an array that has {counted(rank, 'dimension')}",
                at=location_of(op),
                hint="dimensions count from 0",
            )


def _name_arguments(function: ir.OpView) -> None:
    attributes = function.operation.attributes
    given = ir.ArrayAttr(attributes["arg_attrs"]) if "arg_attrs" in attributes else []
    known = [{item.name: item.attr for item in ir.DictAttr(entry)} for entry in given]
    names = argument_names(function)
    known = known or [{} for _ in names]
    entries = [
        ir.DictAttr.get({**entry, "allo.name": string_attr(name)}, context())
        for entry, name in zip(known, names, strict=True)
    ]
    if entries:
        attributes["arg_attrs"] = ir.ArrayAttr.get(entries, context())


def _name_buffers(function: ir.OpView) -> None:
    taken = set(buffers_of(function))
    entry = entry_block(function)
    for op in operations(entry) if entry is not None else ():
        if op.name in ("memref.alloc", "memref.get_global") and "allo.name" not in op.attributes:
            op.attributes["allo.name"] = string_attr(unique_name("buffer", taken))


def _name_loops(function: ir.OpView) -> None:
    taken: set[str] = set()
    nests = 0
    for view in loops_of(function):
        depth = len(view.chain) - 1
        if depth == 0:
            taken = {name for name in _names_below(view.op) if name is not None}
        if "allo.name" not in view.op.attributes:
            base = _LOOP_NAMES[depth] if depth < len(_LOOP_NAMES) else f"i{depth}"
            view.op.attributes["allo.name"] = string_attr(unique_name(base, taken))
        if depth == 0:
            if "allo.nest" not in view.op.attributes:
                view.op.attributes["allo.nest"] = string_attr(f"S_{string_of(view.op, 'allo.name')}_{nests}")
            nests += 1


def _names_below(loop: ir.Operation) -> list[str | None]:
    """The names that the loops of a nest have."""
    inner = [op for region in loop.regions for block in region.blocks for op in operations(block)]
    return [string_of(op, "allo.name") for op in (loop, *inner) if op.name in LOOP_OPERATIONS]
