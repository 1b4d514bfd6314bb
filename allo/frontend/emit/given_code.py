"""Code in other languages that this process was told to run: sources of external kernels, shared objects.

A module from text names such code too, and may be anybody's: it runs if it is in this list only.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from ...ir.builder import string_attr
from ...ir.context import context
from ..typing.external import ExternalKernel

EXTERNAL = "allo.x_external"  # of a declaration: the source of an external kernel
LINKED = "allo.x_linked"  # of a declaration: the shared object that has the function

_given: set[tuple[str, str]] = set()


def give(name: str, attribute: ir.Attribute) -> None:
    """Let declarations whose attribute `name` is `attribute` mean that code."""
    _given.add((name, str(attribute)))


def is_given(declaration: ir.Operation) -> bool:
    """Whether the code that a declaration names, if it names any, was given to this process."""
    named = [name for name in (EXTERNAL, LINKED) if name in declaration.attributes]
    return bool(named) and all((name, str(declaration.attributes[name])) in _given for name in named)


def source_attribute(kernel: ExternalKernel) -> ir.Attribute:
    """The attribute `EXTERNAL` of declarations of `kernel`."""
    return facts_attribute(kernel.facts)


def facts_attribute(facts: Iterable[tuple[str, str | bool | tuple[str, ...]]]) -> ir.Attribute:
    """The attribute `EXTERNAL` of declarations of a function of C++ with these facts."""
    return ir.DictAttr.get({name: _fact(value) for name, value in facts}, context())


def _fact(value: str | bool | tuple[str, ...]) -> ir.Attribute:
    match value:
        case bool():
            return ir.BoolAttr.get(value, context())
        case str():
            return string_attr(value)
    return ir.ArrayAttr.get([string_attr(text) for text in value], context())
