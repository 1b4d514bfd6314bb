"""Attributes of a schedule that programs for published Allo read: steps, arguments, functions of C++."""

from __future__ import annotations

from typing import Any

from ..frontend.emit.given_code import EXTERNAL
from ..ir.module import Module
from ..ir.walk import argument_names
from .step.record import Steps


class Published:
    """Attributes of a schedule by names of published Allo."""

    steps: Steps

    @property
    def ir(self) -> Module:
        """The module as it is now."""
        raise NotImplementedError

    @property
    def primitive_sequences(self) -> list[tuple[str, list[Any], dict[str, Any]]]:
        """Name, arguments and keywords of each step: what `s.steps` prints, as values."""
        found = []
        for step in self.steps:
            given = dict(step.arguments)
            several = list(given.pop(step.variadic, ())) if step.variadic is not None else []
            found.append((step.name, several, given))
        return found

    @property
    def func_args(self) -> dict[str, list[str]]:
        """The names of the arguments of each function."""
        return {function.name.value: argument_names(function) for function in self.ir.functions()}

    @property
    def ext_libs(self) -> list[str]:
        """The names of the functions of C++ (`allo.IPModule`) that the kernel calls."""
        return [f.name.value for f in self.ir.functions() if EXTERNAL in f.operation.attributes]
