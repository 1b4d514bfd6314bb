"""Text of cores for MLIR-AIE: bodies lowered to plain loops, with operations of object FIFOs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from mlir import ir

from ...ir.access import callee_name, is_load, is_store, stored, subscripts
from ...ir.builder import Builder
from ...ir.context import context, unknown_location
from ...ir.elementary.values import hidden
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.walk import argument_names, entry_block, operations, string_of
from ...ir.words import container_width
from ...mapping import ArrayPlan
from ..element_class import set_signature
from .constants import constant_place, constant_text
from .core_body import CORE, CoreBodies, FifoAction

_FOREVER = 0x7FFFFFFF
_LOWER = "builtin.module(func.func(allo-expand-remainders),allo-lower-types,canonicalize,lower-affine,canonicalize)"
_WIDEN = "builtin.module(func.func(arith-emulate-unsupported-floats{source-types=f16 target-type=f32}))"
_NATIVE = "builtin.module(func.func(allo-native-integers),canonicalize)"


@dataclass(frozen=True, slots=True)
class CoreBody:
    """The statements of a core as text, and the arrays in its memory that they use, by name and type."""

    lines: tuple[str, ...]
    buffers: tuple[tuple[str, str], ...]
    values: Mapping[str, str]  # of constant arrays, by name


def core_bodies(plan: ArrayPlan, bodies: Module) -> Iterator[CoreBody]:
    """The bodies of all cores of a plan, in their order."""
    made = CoreBodies(plan, bodies)
    for core, tile in zip(plan.mapping.cores, plan.placement.tiles, strict=True):
        module = made.body(core, _FOREVER)
        constants = _constants(module)
        names = lower_core(module, f"core_{tile.column}_{tile.row}")
        values = {names[number]: text for number, text in constants.items()}
        yield _printed(module, made.actions, names, values)


def _constants(module: Module) -> dict[int, str]:
    """The elements of constant arrays of a core, by the number of the array."""
    entry = entry_block(module.function(CORE))
    assert entry is not None
    arrays = enumerate(operations(entry, "memref.alloc"))
    return {number: constant_text(op) for number, op in arrays if constant_place(op) is not None}


def lower_core(module: Module, prefix: str) -> list[str]:
    """Lower the body of a core, in place: loops, branches, loads and stores, and numbers of widths that cores have.

    Its arrays are arguments then; their names, which begin with `prefix`.
    """
    names = _arrays_as_arguments(module, prefix)
    with hidden(module.mlir.body):
        run_passes(_WIDEN, module.mlir.operation)
        _round_all(module)
        run_passes(_LOWER, module.mlir.operation)
        _store_native(module)
        run_passes(_NATIVE, module.mlir.operation)
    return names


def _round_all(module: Module) -> None:
    """Let each result of float16 be rounded: what the pass allows to be left out changes results."""
    exact = ir.Attribute.parse("#arith.fastmath<none>", context())
    entry = entry_block(module.function(CORE))
    assert entry is not None
    for op in operations(entry, "arith.extf", "arith.truncf"):
        op.attributes["fastmath"] = exact


def _arrays_as_arguments(module: Module, prefix: str) -> list[str]:
    """Let the arrays of a core, which its tile has, be arguments of its function; their names."""
    function = module.function(CORE)
    entry = entry_block(function)
    assert entry is not None
    names: list[str] = []
    for op in operations(entry, "memref.alloc"):
        names.append(f"{prefix}_{string_of(op, 'allo.name') or 'array'}_{len(names)}")
        op.results[0].replace_all_uses_with(entry.add_argument(op.results[0].type, op.location))
        op.erase()
    set_signature(function.operation, names)
    return names


def _store_native(module: Module) -> None:
    """Let integers of arrays of a core, which are its arguments, have widths that memory has."""
    function = module.function(CORE)
    entry = entry_block(function)
    assert entry is not None
    for array in entry.arguments:
        own = ir.MemRefType(array.type)
        narrow = own.element_type
        if not isinstance(narrow, ir.IntegerType) or narrow.width == container_width(narrow.width):
            continue
        wide = ir.IntegerType.get_signless(container_width(narrow.width), context())
        array.set_type(ir.MemRefType.get(own.shape, wide, loc=unknown_location()))
        for op in [use.owner.operation for use in array.uses]:
            builder = Builder.before(op)
            if is_store(op):
                op.operands[0] = builder.value("arith.extui", wide, [stored(op)])
            elif is_load(op):
                value = builder.value("memref.load", wide, [array, *subscripts(op)])
                op.results[0].replace_all_uses_with(builder.value("arith.trunci", narrow, [value]))
                op.erase()
    set_signature(function.operation, argument_names(function))


@cache
def _open_context() -> ir.Context:
    """A context in which there may be operations of dialects that are not here."""
    made = ir.Context()
    made.allow_unregistered_dialects = True
    return made


def _printed(
    module: Module, actions: dict[FifoAction, str], names: Sequence[str], values: Mapping[str, str]
) -> CoreBody:
    """The statements of the lowered core, with operations of MLIR-AIE in the place of calls."""
    by_name = {name: action for action, name in actions.items()}
    with _open_context(), ir.Location.unknown():
        parsed = ir.Module.parse(module.mlir.operation.get_asm(use_local_scope=True))
        functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in parsed.body.operations}
        block = functions[CORE].regions[0].blocks[0]
        for op in list(_inside(block)):
            for name in [name for name, _ in op.attributes.items() if name.startswith("allo.")]:
                del op.attributes[name]
            if op.name == "func.call" and callee_name(op) in by_name:
                _as_operations(op, by_name[callee_name(op)])
        kinds = [argument.type for argument in block.arguments]
        named = ir.Operation.create("func.func", regions=1, attributes={
            "sym_name": ir.StringAttr.get(CORE),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [])),
        }, ip=ir.InsertionPoint(parsed.body))  # fmt: skip
        made = named.regions[0].blocks.append(*kinds, arg_locs=[ir.Location.name(name) for name in names])
        for old, new in zip(block.arguments, made.arguments, strict=True):
            old.replace_all_uses_with(new)
        for op in list(block.operations):
            made.append(op)
        text = named.get_asm(use_name_loc_as_prefix=True, use_local_scope=True).splitlines()
    buffers = tuple((name, str(kind)) for name, kind in zip(names, kinds, strict=True))
    return CoreBody(tuple(line[2:] for line in text[1:-2]), buffers, values)


def _inside(block: ir.Block) -> Iterator[ir.Operation]:
    for op in list(block.operations):
        yield op.operation
        for region in op.operation.regions:
            for inner in region.blocks:
                yield from _inside(inner)


def _as_operations(call: ir.Operation, action: FifoAction) -> None:
    """Put the operations of an object FIFO in the place of a call."""
    number = ir.IntegerType.get_signless(32)
    fifo = {"objFifo_name": ir.FlatSymbolRefAttr.get(action.fifo), "port": ir.IntegerAttr.get(number, action.port)}
    size = {"size": ir.IntegerAttr.get(number, action.count)}
    point = ir.InsertionPoint(call)
    if action.index is None:
        ir.Operation.create("aie.objectfifo.release", attributes=fifo | size, ip=point)
    else:
        kind = call.results[0].type
        view = ir.Type.parse(f"!aie.objectfifosubview<{kind}>")
        taken = ir.Operation.create("aie.objectfifo.acquire", [view], attributes=fifo | size, ip=point)
        index = {"index": ir.IntegerAttr.get(number, action.index)}
        value = ir.Operation.create(
            "aie.objectfifo.subview.access", [kind], list(taken.results), attributes=index, ip=point
        )
        call.results[0].replace_all_uses_with(value.results[0])
    call.erase()
