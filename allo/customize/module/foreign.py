"""Refusal of what a module from text must not hold: strings that are no text, machine code, types that kernels do
not have, calls that lead back, names that nothing defines."""

from __future__ import annotations

import functools
import re
from graphlib import CycleError, TopologicalSorter

from mlir import ir

from ...errors import KernelError
from ...frontend.emit.given_code import EXTERNAL, LINKED, is_given
from ...ir.access import callee_name
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, operations, statements

_DIALECTS = frozenset({"affine", "allo", "arith", "cf", "func", "linalg", "math", "memref", "scf", "ub"})
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(\\|[0-9A-Fa-f]{2})")


def check_strings(module: Module) -> None:
    """Raise KernelError for a name, an attribute or a location that is not UTF-8: no such string can be read."""
    text = module.mlir.operation.get_asm(enable_debug_info=True)
    for found in _STRING.finditer(text):
        if "\\" not in found[1]:
            continue
        try:
            _ESCAPE.sub(_letter, found[1]).encode("latin-1").decode()
        except UnicodeError:
            raise KernelError(f"the module has a string that is not UTF-8: {found[0]}") from None


def check_operations(module: Module) -> None:
    """Raise KernelError for an operation that is none of kernels, such as a call of machine code."""
    for op in operations(module.mlir.body):
        if op.name.partition(".")[0] not in _DIALECTS:
            raise KernelError(
                f"'{op.name}' is no operation of kernels",
                at=location_of(op),
                hint=f"kernels are of the dialects {', '.join(sorted(_DIALECTS))}",
            )


def check_types(module: Module) -> None:
    """Raise KernelError for a value of a type that kernels do not have, such as a tensor or a vector."""
    for op in operations(module.mlir.body):
        inner = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
        for value in (*op.results, *inner):
            if not _is_of_kernels(value.type):
                raise KernelError(
                    f"kernels have no values of type {value.type}",
                    at=location_of(op),
                    hint="they have integers, floats, types of the dialect allo, and memrefs of these",
                )


@functools.cache
def _is_of_kernels(kind: ir.Type) -> bool:
    if isinstance(kind, ir.MemRefType):
        kind = kind.element_type
    scalars = (ir.IntegerType, ir.IndexType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)
    return isinstance(kind, scalars) or str(kind).startswith("!allo.")


def check_calls(module: Module) -> None:
    """Raise KernelError for a function that calls itself, also through others."""
    calls: dict[str, dict[str, ir.Operation]] = {}
    for function in module.functions():
        entry = entry_block(function)
        found = operations(entry, "func.call") if entry is not None else ()
        calls[function.name.value] = {callee_name(op): op for op in found}
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        callee, caller, *_ = error.args[1]
        raise KernelError(
            f"'{callee}' calls itself, and hardware has no call stack",
            at=location_of(calls[caller][callee]), hint="write a loop instead",
        ) from None  # fmt: skip


def check_definitions(module: Module) -> None:
    """Raise KernelError for a function without a body, and data without values, unless this process was given them."""
    for function in module.functions():
        op, name = function.operation, function.name.value
        if entry_block(function) is not None or is_given(op):
            continue
        if EXTERNAL in op.attributes or LINKED in op.attributes:
            raise KernelError(
                f"'{name}' is a function of files that only the text of the module names, "
                "and such text may be anybody's",
                at=location_of(op),
                hint="make its IPModule before, or say which file has it: --link FILE, or from_mlir(..., link=[FILE])",
            )
        raise KernelError(
            f"'{name}' is declared, and the module has no body of it",
            at=location_of(op),
            hint="say which file of C++ or shared object has it: --link FILE, or from_mlir(..., link=[FILE])",
        )
    for op in statements(module.mlir.body):
        if op.name == "memref.global" and "initial_value" not in op.attributes:
            name = ir.StringAttr(op.attributes["sym_name"]).value
            raise KernelError(
                f"'{name}' is data that the module does not hold",
                at=location_of(op), hint="give it values, or `uninitialized`",
            )  # fmt: skip


def _letter(escape: re.Match[str]) -> str:
    return "\\" if escape[1] == "\\" else chr(int(escape[1], 16))
