"""Decides what a module is to the layers above: MLIR with a named entry function, cloned before it is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mlir import ir

from ..errors import InternalError
from .builder import string_attr
from .context import context, unknown_location


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
        for op in self.mlir.body.operations:
            op.operation.clone(point)
        return Module(made)

    def functions(self) -> Iterator[ir.OpView]:
        """All functions, in the order of the text."""
        return (op for op in self.mlir.body.operations if op.operation.name == "func.func")

    def function(self, name: str) -> ir.OpView:
        """The function `name`; InternalError if there is none."""
        for function in self.functions():
            if function.name.value == name:
                return function
        raise InternalError(f"no function '{name}' in the module")

    def verify(self) -> None:
        """Check the module by MLIR's and our verifiers; InternalError with their words if it is not valid."""
        try:
            self.mlir.operation.verify()
        except ir.MLIRError as error:
            raise InternalError(f"the module is not valid: {error}") from None

    def __str__(self) -> str:
        return str(self.mlir)


class FinishedModule(Module):
    """One that is not changed any more: functions are found at once, of which unfolded arrays have thousands."""

    __slots__ = ("_functions",)
    _functions: dict[str, ir.OpView]

    def __init__(self, module: Module) -> None:
        super().__init__(module.mlir)
        object.__setattr__(self, "_functions", {f.name.value: f for f in reversed(list(module.functions()))})

    def function(self, name: str) -> ir.OpView:
        if name not in self._functions:
            raise InternalError(f"no function '{name}' in the module")
        return self._functions[name]
