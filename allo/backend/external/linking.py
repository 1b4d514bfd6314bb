"""Calls of external kernels in a module as calls of compiled libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import TargetError
from ...frontend.emit.given_code import EXTERNAL
from ...frontend.typing.external import ExternalParameter, fitting
from ...ir.access import callee_name
from ...ir.builder import Builder, segments_attr, string_attr
from ...ir.context import context, unknown_location
from ...ir.mlir_types import from_mlir, scalar_from_mlir
from ...ir.module import Module
from ...ir.streams import declared_sides
from ...ir.types import AlloType, TensorType
from ...ir.walk import entry_block, location_of, operations
from .compiler import Compiler, find_compiler
from .library import Library, compiled
from .signature import Signature, signature_of
from .source import ExternalSource
from .stream_wrapper import FifoType


def external_sources(module: Module) -> dict[str, ExternalSource]:
    """The sources of the external kernels that `module` declares, by the name of the function."""
    return {
        function.name.value: stated_source(function.operation)
        for function in module.functions()
        if EXTERNAL in function.operation.attributes
    }


def declared_signature(
    compiler: Compiler, source: ExternalSource, declaration: ir.OpView
) -> tuple[Signature, list[AlloType | TensorType | FifoType]]:
    """The parameters in C++ of what `declaration` declares, and their types in the module.

    Raises TargetError if the source no longer has the signature that the module declares.
    """
    signature = signature_of(compiler, source)
    types = _declared(declaration)
    _check_unchanged(declaration, signature, types)
    return signature, types


def link_external(module: Module) -> tuple[Library, ...]:
    """Compile the external kernels of `module` and make calls of their libraries, in place.

    The entry of a library takes addresses, so scalars and results go through memory. Raises ToolError if a kernel
    does not compile, TargetError if its source no longer has the signature that the module declares.
    """
    sources = external_sources(module)
    if not sources:
        return ()
    compiler = find_compiler()
    linked = {}
    for name, source in sources.items():
        signature, types = declared_signature(compiler, source, module.function(name))
        linked[name] = _Linked(
            compiled(compiler, source, signature, types), _entry_types(module.function(name), signature)
        )
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry) if entry is not None else ():
            if op.name == "func.call":
                callee = callee_name(op)
                if callee in linked:
                    _call(op, linked[callee])
    declared: dict[str, Library] = {}
    for name, kernel in linked.items():
        if kernel.library.entry in declared:  # another shape of an argument
            module.function(name).operation.erase()
        else:
            _declare(module.function(name), kernel)
        declared[kernel.library.entry] = kernel.library
    return tuple(declared.values())


@dataclass(frozen=True, slots=True)
class _Linked:
    """The library of a declaration, and the types that its entry takes."""

    library: Library
    types: tuple[ir.Type, ...]


def _entry_types(function: ir.OpView, signature: Signature) -> tuple[ir.Type, ...]:
    """What the entry takes: an array of any shape by the address of its first element, a FIFO by its handle."""
    declared = _signature(function)
    types: list[ir.Type] = []
    for kind, parameter in zip(declared.inputs, signature.kernel.parameters, strict=True):
        if isinstance(kind, allo_d.StreamType):
            types.append(kind)
        elif not isinstance(kind, ir.MemRefType):
            types.append(_memref((), kind))
        elif isinstance(parameter.type, TensorType) and parameter.type.is_static:
            types.append(ir.MemRefType(kind))
        else:
            types.append(_memref((1,), ir.MemRefType(kind).element_type))
    return (*types, *(_memref((), result) for result in declared.results))


def stated_source(declaration: ir.Operation) -> ExternalSource:
    """The source that a declaration names."""
    facts: dict[str, object] = {}
    for entry in ir.DictAttr(declaration.attributes[EXTERNAL]):
        value = entry.attr
        if isinstance(value, ir.ArrayAttr):
            facts[entry.name] = tuple(ir.StringAttr(text).value for text in value)
        else:
            facts[entry.name] = value.value
    return ExternalSource.of_facts(facts)


def _signature(function: ir.OpView) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)


def _declared(function: ir.OpView) -> list[AlloType | TensorType | FifoType]:
    return [
        FifoType(scalar_from_mlir(kind.element_type), kind.depth)
        if isinstance(kind, allo_d.StreamType)
        else from_mlir(kind)
        for kind in _signature(function).inputs
    ]


def _fits(parameter: ExternalParameter, kind: AlloType | TensorType | FifoType, side: str) -> bool:
    """Whether a parameter of the source is what the module declares."""
    if parameter.stream != side:
        return False
    return kind.element == parameter.element if isinstance(kind, FifoType) else fitting(parameter, kind) == kind


def _check_unchanged(
    function: ir.OpView, signature: Signature, types: Sequence[AlloType | TensorType | FifoType]
) -> None:
    """Raises TargetError unless the source still has the parameters that `function` declares."""
    kernel, sides = signature.kernel, declared_sides(function)
    same = len(types) == len(kernel.parameters) and all(
        _fits(parameter, kind, sides.get(position, ""))
        for position, (parameter, kind) in enumerate(zip(kernel.parameters, types, strict=True))
    )
    results = [from_mlir(kind) for kind in _signature(function).results]
    if not same or results != ([] if kernel.result is None else [kernel.result]):
        listed = ", ".join(map(str, kernel.parameters))
        raise TargetError(
            f"the external kernel '{kernel.name}' takes ({listed}) in {signature.file}, "
            f"which is not what the module declares: {_signature(function)}",
            at=location_of(function.operation),
            hint="the file has changed: make the IPModule and the schedule again",
        )


def _call(call: ir.Operation, kernel: _Linked) -> None:
    """Call the entry of a library in place of `call`."""
    builder = Builder.before(call)
    scalar = ir.AffineMap.get(0, 0, [], context())
    top = kernel.library.top
    operands = []
    count = len(call.operands)
    for position, (operand, kind) in enumerate(zip(call.operands, kernel.types[:count], strict=True)):
        if isinstance(operand.type, ir.MemRefType):
            operands.append(operand if operand.type == kind else _first_element(builder, operand, kind))
            continue
        if isinstance(operand.type, allo_d.StreamType):
            operands.append(operand)
            continue
        place = builder.alloc(kind, f"{top}_argument_{position}")
        builder.affine_store(operand, place, scalar, [])
        operands.append(place)
    results = [builder.alloc(kind, f"{top}_result") for kind in kernel.types[count:]]
    callee = ir.FlatSymbolRefAttr.get(kernel.library.entry, context())
    builder.op("func.call", (), [*operands, *results], {"callee": callee})
    for result, place in zip(call.results, results, strict=True):
        result.replace_all_uses_with(builder.affine_load(place, scalar, []))
    call.erase()


def _first_element(builder: Builder, array: ir.Value, kind: ir.MemRefType) -> ir.Value:
    """`array` as an array of one element."""
    attributes: dict[str, ir.Attribute] = {
        "operandSegmentSizes": segments_attr((1, 0, 0, 0)),
        **{
            f"static_{what}": ir.DenseI64ArrayAttr.get(values, context())
            for what, values in (("offsets", [0]), ("sizes", [1]), ("strides", [1]))
        },
    }
    return builder.value("memref.reinterpret_cast", kind, [array], attributes)


def _memref(shape: tuple[int, ...], element: ir.Type) -> ir.MemRefType:
    return ir.MemRefType.get(shape, element, loc=unknown_location())


def _declare(function: ir.OpView, kernel: _Linked) -> None:
    """Make the declaration that of the entry of a library."""
    operation = function.operation
    operation.attributes["sym_name"] = string_attr(kernel.library.entry)
    signature = ir.FunctionType.get(list(kernel.types), [], context())
    operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())
    for name in (EXTERNAL, "arg_attrs"):
        if name in operation.attributes:
            del operation.attributes[name]
