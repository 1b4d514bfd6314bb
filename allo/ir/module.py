"""Module: MLIR with a named entry function, cloned before it is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from mlir import ir

from allo import _mlir

from ..errors import InternalError
from .builder import string_attr
from .context import context, unknown_location
from .walk import LoopView, buffers_of, loops_of, statements


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of `op` by name, in a stable order."""
    return dict(op.attributes.items())


@dataclass(frozen=True, slots=True)
class Module:
    """A module of MLIR; treated as a value: whoever wants to rewrite it clones it first."""

    mlir: ir.Module

    @classmethod
    def empty(cls, top: str) -> Module:
        """A module without functions whose entry will be `top`."""
        made = ir.Module.create(unknown_location())
        made.operation.attributes["allo.top"] = string_attr(top)
        return cls(made)

    @classmethod
    def parse(cls, source: str | Path) -> Module:
        """The module that a text or a file prints; raises mlir.ir.MLIRError with the place if it is not valid."""
        if isinstance(source, Path):
            return cls(ir.Module.parseFile(str(source), context()))
        return cls(ir.Module.parse(source, context()))

    @property
    def top(self) -> str:
        """The name of the entry function."""
        name: str = ir.StringAttr(self.mlir.operation.attributes["allo.top"]).value
        return name

    def clone(self) -> Module:
        """An independent copy."""
        made = ir.Module.create(self.mlir.operation.location)
        for name, attribute in attributes_of(self.mlir.operation).items():
            made.operation.attributes[name] = attribute
        point = ir.InsertionPoint(made.body)
        for op in statements(self.mlir.body):
            op.clone(point)
        return Module(made)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytecode, (type(self), self.bytecode())

    def bytecode(self) -> bytes:
        """The module, with all places in kernels, as bytes of MLIR."""
        file = BytesIO()
        self.mlir.operation.write_bytecode(file)
        return file.getvalue()

    def functions(self) -> Iterator[ir.OpView]:
        """All functions, in the order of the text."""
        return (op.opview for op in statements(self.mlir.body) if op.name == "func.func")

    def function(self, name: str) -> ir.OpView:
        """The function `name`; InternalError if there is none."""
        symbols = ir.SymbolTable(self.mlir.operation)
        if name in symbols and (found := symbols[name]).operation.name == "func.func":
            return found
        raise InternalError(f"no function '{name}' in the module")

    def names(self) -> list[str]:
        """The names of all functions, in the order of the text."""
        return [function.name.value for function in self.functions()]

    def loops(self, name: str) -> list[LoopView]:
        """The loops of function `name`, outer before inner."""
        return loops_of(self.function(name))

    def buffers(self, name: str) -> dict[str, ir.Value]:
        """The arrays of function `name`: arguments, then local ones and constants in the order of the text."""
        return buffers_of(self.function(name))

    def verify(self, before: Module | None = None) -> None:
        """Check the module by MLIR's and our verifiers; InternalError with their words if it is not valid.

        Functions that are the same in `before`, a module that was checked, are not checked again.
        """
        if before is not None and _mlir.verify_changes(before.mlir.operation, self.mlir.operation):
            return
        try:
            self.mlir.operation.verify()
        except ir.MLIRError as error:
            raise InternalError(f"the module is not valid: {error}") from None

    def __str__(self) -> str:
        return str(self.mlir)


def _from_bytecode(kind: type[Module], data: bytes) -> Module:
    return kind(ir.Module.parse(data, context()))


class FinishedModule(Module):
    """One that is not changed any more: functions (unfolded arrays have thousands), loops and arrays are found once."""

    __slots__ = ("_buffers", "_functions", "_loops")
    _functions: dict[str, ir.OpView]
    _loops: dict[str, list[LoopView]]
    _buffers: dict[str, dict[str, ir.Value]]

    def __init__(self, mlir: ir.Module) -> None:
        super().__init__(mlir)
        object.__setattr__(self, "_functions", {f.name.value: f for f in super().functions()})
        object.__setattr__(self, "_loops", {})
        object.__setattr__(self, "_buffers", {})

    def function(self, name: str) -> ir.OpView:
        if name not in self._functions:
            raise InternalError(f"no function '{name}' in the module")
        return self._functions[name]

    def functions(self) -> Iterator[ir.OpView]:
        return iter(self._functions.values())

    def names(self) -> list[str]:
        return list(self._functions)

    def loops(self, name: str) -> list[LoopView]:
        if name not in self._loops:
            self._loops[name] = super().loops(name)
        return list(self._loops[name])

    def buffers(self, name: str) -> dict[str, ir.Value]:
        if name not in self._buffers:
            self._buffers[name] = super().buffers(name)
        return dict(self._buffers[name])
