"""Lowered form of a program that runs on expressions: its scalars and streams are those of the CPU."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.types import AlloType, Bool, Fixed, Int, Struct, TensorType, UFixed, UInt
from ...ir.walk import argument_names
from ..program.programs import Program


class Unsupported(Exception):
    """A function cannot run on expressions because of an operation."""

    def __init__(self, reason: str, op: ir.Operation | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.op = op


@dataclass(frozen=True, slots=True)
class Lowered:
    """Fixed point, structs and signs have become integers of `arith`, streams calls, elements their containers."""

    module: Module
    function: ir.OpView
    argument_names: list[str]
    globals: dict[str, ir.Operation]


def lower(program: Program) -> Lowered:
    """A clone of the program in that form. Raises Unsupported if there is none."""
    names = argument_names(program.function)
    module = program.module.clone()
    try:
        run_passes("builtin.module(allo-lower-types)", module.mlir.operation)
    except ir.MLIRError as error:
        raise Unsupported(f"it has no form for a CPU: {str(error).splitlines()[0]}", None) from None
    variables = {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in module.mlir.body.operations
        if op.operation.name == "memref.global"
    }
    return Lowered(module, module.function(program.module.top), names, variables)


def held(kind: AlloType | TensorType | None) -> tuple[int, bool] | None:
    """The bits of a value that lies in a container with room for more, and its sign; None if it may need no other."""
    element = kind.element if isinstance(kind, TensorType) else kind
    match element:
        case Bool():
            return 1, False
        case Int() | Fixed():
            return element.bits, True
        case UInt() | UFixed() | Struct():
            return element.bits, False
    return None
