"""Functions for the tests of the polyhedral model, parsed from text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from mlir import ir

from allo.ir.context import context


@dataclass(frozen=True)
class Function:
    """A parsed function with its loops by name and its arguments by `allo.name`."""

    op: ir.Operation
    loops: dict[str, ir.Operation]
    values: dict[str, ir.Value]
    module: ir.Module


def parse_function(text: str, name: str | None = None) -> Function:
    module = ir.Module.parse(text, context())
    functions = {ir.StringAttr(f.operation.attributes["sym_name"]).value: f.operation for f in module.body}
    op = functions[name] if name else next(iter(functions.values()))
    loops: dict[str, ir.Operation] = {}
    values: dict[str, ir.Value] = {}
    if "arg_attrs" in op.attributes:
        entry = op.regions[0].blocks[0]
        for argument, attributes in zip(entry.arguments, op.attributes["arg_attrs"], strict=True):
            if "allo.name" in attributes:
                values[attributes["allo.name"].value] = argument

    def walk(inner: ir.Operation) -> None:
        if "allo.name" in inner.attributes:
            label = inner.attributes["allo.name"].value
            if inner.regions:
                loops[label] = inner
            else:
                values[label] = inner.results[0]
        for region in inner.regions:
            for block in region:
                for child in block.operations:
                    walk(child.operation)

    walk(op)
    return Function(op, loops, values, module)


@pytest.fixture
def parse() -> Callable[..., Function]:
    return parse_function
