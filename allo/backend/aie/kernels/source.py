"""Files of kernels in C++, and their declarations: cores link them, and the model runs them on the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from mlir import ir

from ....frontend.emit.given_code import EXTERNAL, facts_attribute, give
from ....ir.builder import Builder, i64_attr, string_attr, unit_attr
from ....ir.context import context, unknown_location
from ....ir.module import Module
from ...external.compiler import kept
from ...external.source import ExternalSource
from ...headers import templates_directory

CYCLES = "allo.x_cycles"  # of a declaration: the cycles of a call
SUMMED = "allo.x_summed"  # of a declaration: the products of two elements that a call sums
_IN_PLACE = "allo.x_in_place"  # of a declaration: parameters that may be the array that it writes
_FILES = "aie_kernels"


def kernel_headers() -> tuple[Path, Path]:
    """The folder of our headers for cores, and that of the vector API for the compiler of the host."""
    return templates_directory() / "aie" / "include", templates_directory() / "aie" / "host"


def declare_kernel(
    module: Module, name: str, text: str, kinds: Sequence[ir.Type], written: Sequence[int],
    cycles: int, summed: Mapping[str, int], in_place: Sequence[int] = (),
) -> None:  # fmt: skip
    """Declare the kernel `name`, which `text` defines; `written` are the parameters that it overwrites."""
    if name in module.names():
        return
    key = sha256(text.encode()).hexdigest()[:16]
    file = kept(_FILES, f"{name}_{key}.cc", lambda place: _write(place, text))
    folders = tuple(map(str, kernel_headers()))
    external = facts_attribute(ExternalSource(name, (str(file),), (), folders).facts())
    give(EXTERNAL, external)
    marks = [
        ir.DictAttr.get({} if k in written else {"llvm.readonly": unit_attr()}, context()) for k in range(len(kinds))
    ]
    attributes: dict[str, ir.Attribute] = {
        "sym_name": string_attr(name), "sym_visibility": string_attr("private"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(kinds), [], context()), context()),
        "arg_attrs": ir.ArrayAttr.get(marks, context()), EXTERNAL: external,
        _IN_PLACE: ir.DenseI64ArrayAttr.get(list(in_place), context()), CYCLES: i64_attr(cycles),
        SUMMED: ir.DictAttr.get({element: i64_attr(count) for element, count in summed.items()}, context()),
    }  # fmt: skip
    Builder(ir.InsertionPoint(module.mlir.body), unknown_location()).op("func.func", (), (), attributes, 1)


def _write(place: Path, text: str) -> None:
    place.write_text(text)


def is_kernel(declaration: ir.Operation) -> bool:
    """Whether a declaration is of a kernel that was chosen here."""
    return _IN_PLACE in declaration.attributes


def in_place(declaration: ir.Operation) -> tuple[int, ...]:
    """The parameters of a kernel that may be the array that it writes, its last one."""
    return tuple(ir.DenseI64ArrayAttr(declaration.attributes[_IN_PLACE])) if is_kernel(declaration) else ()


def known_cycles(module: Module) -> dict[str, int]:
    """The cycles of calls of kernels, by name."""
    marked = (function for function in module.functions() if CYCLES in function.operation.attributes)
    return {own.name.value: ir.IntegerAttr(own.operation.attributes[CYCLES]).value for own in marked}


def known_products(module: Module) -> dict[str, dict[str, int]]:
    """The products of elements that calls of kernels sum, by name and element."""
    marked = (function for function in module.functions() if SUMMED in function.operation.attributes)
    return {
        own.name.value: {
            entry.name: ir.IntegerAttr(entry.attr).value for entry in ir.DictAttr(own.operation.attributes[SUMMED])
        }
        for own in marked
    }  # fmt: skip
