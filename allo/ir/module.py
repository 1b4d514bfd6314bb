"""Module: MLIR with a named entry function, cloned before it is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from mlir import ir

from allo import _mlir

from ..errors import InternalError, TargetError
from .builder import string_attr
from .context import context, unknown_location
from .walk import LoopView, buffers_of, loops_of, statements


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of `op` by name, in a stable order."""
    return dict(op.attributes.items())


class Module:
    """A module of MLIR; treated as a value: whoever wants to rewrite it clones it first."""

    __slots__ = ("_mlir",)

    def __init__(self, mlir: ir.Module) -> None:
        self._mlir: ir.Module | None = mlir

    @property
    def mlir(self) -> ir.Module:
        """The module as MLIR."""
        assert self._mlir is not None, "only a state of a schedule may be without"
        return self._mlir

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

    @classmethod
    def entered(cls, given: Module | ir.Module, top: str | None = None) -> Module:
        """`given` as a module whose entry is `top`, else its own. Raises TargetError if there is no such function."""
        made = given if isinstance(given, Module) else Module(given)
        if top is None or ("allo.top" in made.mlir.operation.attributes and made.top == top):
            return made
        if top not in made:
            raise TargetError(f"the module has no function '{top}'", hint=f"its functions: {', '.join(made.names())}")
        made = made.clone()
        made.mlir.operation.attributes["allo.top"] = string_attr(top)
        return made

    @property
    def top(self) -> str:
        """The name of the entry function."""
        name: str = ir.StringAttr(self.mlir.operation.attributes["allo.top"]).value
        return name

    def clone(self) -> Module:
        """An independent copy."""
        return Module(_mlir.clone_module(self.mlir.operation))

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
        found = self.symbol(name)
        if found.name != "func.func":
            raise InternalError(f"no function '{name}' in the module")
        return found.opview

    def read[T](self, name: str, find: Callable[[ir.OpView], T]) -> T:
        """What `find` says of function `name`, with what it calls."""
        return find(self.function(name))

    def once[T](self, find: Callable[[Module], T]) -> T:
        """What `find` says of the module."""
        return find(self)

    def symbol(self, name: str) -> ir.Operation:
        """The function, constant or state `name`; InternalError if there is none."""
        symbols = ir.SymbolTable(self.mlir.operation)
        if name not in symbols:
            raise InternalError(f"nothing is called '{name}' in the module")
        return symbols[name].operation

    def __contains__(self, name: str) -> bool:
        """Whether there is a function `name`."""
        symbols = ir.SymbolTable(self.mlir.operation)
        return name in symbols and symbols[name].operation.name == "func.func"

    def names(self) -> list[str]:
        """The names of all functions, in the order of the text."""
        return [function.name.value for function in self.functions()]

    def loops(self, name: str) -> list[LoopView]:
        """The loops of function `name`, outer before inner."""
        return loops_of(self.function(name))

    def buffers(self, name: str) -> dict[str, ir.Value]:
        """The arrays of function `name`: arguments, then local ones and constants in the order of the text."""
        return buffers_of(self.function(name))

    def buffer_names(self, name: str) -> list[str]:
        """The names of the arrays of function `name`."""
        return list(self.buffers(name))

    def verify(self, name: str | None = None) -> None:
        """Check the module, or one function, by MLIR's and our verifiers; InternalError with their words if it is not
        valid."""
        try:
            (self.mlir if name is None else self.function(name)).operation.verify()
        except ir.MLIRError as error:
            raise InternalError(f"the module is not valid: {error}") from None

    def __str__(self) -> str:
        return str(self.mlir)


def _from_bytecode(kind: type[Module], data: bytes) -> Module:
    return kind(ir.Module.parse(data, context()))
