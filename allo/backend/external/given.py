"""Definitions of functions without a body: `link=[...]` of a module from text."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from mlir import ir

from ...errors import KernelError
from ...frontend.emit.given_code import EXTERNAL, LINKED, give, is_given, source_attribute
from ...frontend.typing.external import ExternalKernel
from ...ir.builder import string_attr, unit_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.streams import SIDE
from ...ir.walk import argument_names, entry_block, location_of
from .compiler import find_compiler
from .linking import declared_signature, stated_source
from .options import FilePath, paths
from .signature import signature_of
from .source import ExternalSource, found_files

_SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C")
# the name of a function or of an instance of a template; what it is given are names and numbers, nothing that runs
_TOP = re.compile(r"[A-Za-z_][\w:]*(<[\w ,:<>*&-]*>)?", re.ASCII)
_NUMBERS = ("i32", "i64", "f32", "f64")  # those that need no extension on their way into a function of C
_ELEMENTS = (*_NUMBERS, "i8", "i16", "ui8", "ui16", "ui32", "ui64")


def giver(files: FilePath | Sequence[FilePath]) -> Callable[[Module], None]:
    """What gives the functions that a module only declares code from `files`, of C++ or shared objects.

    A function of C++ becomes an external kernel, so that its parameters are compared with the declaration. One of a
    shared object has the convention of C: arrays are pointers to their first element. Raises ToolError for a file that
    is not there, KernelError for one of another kind, and for functions of shared objects that cannot be passed.
    """
    found = found_files(paths("link", files), "file to link", (Path.cwd(),))
    sources = tuple(file for file in found if Path(file).suffix in _SOURCES)
    objects = tuple(file for file in found if ".so" in Path(file).suffixes)
    for file in found:
        if file not in (*sources, *objects):
            raise KernelError(
                f"'{file}' is neither C++ ({', '.join(_SOURCES)}) nor a shared object (.so)",
                hint="make a shared object of it: g++ -shared -o name.so name.o",
            )

    def link(module: Module) -> None:
        for function in module.functions():
            op = function.operation
            if entry_block(function) is not None or is_given(op):
                continue
            holder = next((file for file in objects if _has(file, function.name.value)), None)
            if holder is not None and EXTERNAL not in op.attributes:
                _link_object(function, holder)
            elif sources:
                _link_source(function, _source(function, sources))

    return link


def _source(function: ir.OpView, files: tuple[str, ...]) -> ExternalSource:
    """What the text says of an external kernel holds but for its files and folders, which are those given."""
    op = function.operation
    if EXTERNAL not in op.attributes:
        return ExternalSource(function.name.value, files)
    stated = stated_source(op)
    if _TOP.fullmatch(stated.top) is None:
        raise KernelError(f"{stated.top!r} is no name of a function of C++", at=location_of(op))
    return ExternalSource(stated.top, files, signature=stated.signature, streams=stated.streams)


def _link_source(function: ir.OpView, source: ExternalSource) -> None:
    compiler, op = find_compiler(), function.operation
    kernel = signature_of(compiler, source).kernel
    op.attributes[EXTERNAL] = source_attribute(kernel)
    types = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
    if len(types) == len(kernel.parameters):
        op.attributes["arg_attrs"] = _marks(types, kernel)
    declared_signature(compiler, source, function)
    op.attributes["sym_visibility"] = string_attr("private")
    give(EXTERNAL, op.attributes[EXTERNAL])


def _marks(types: Sequence[ir.Type], kernel: ExternalKernel) -> ir.ArrayAttr:
    """What the source says of the parameters, and the text of the module must not."""
    marks = []
    for parameter, kind in zip(kernel.parameters, types, strict=True):
        entries: dict[str, ir.Attribute] = {"allo.name": string_attr(parameter.name)}
        if isinstance(kind, ir.MemRefType) and not parameter.written:
            entries["llvm.readonly"] = unit_attr()
        if parameter.stream:
            entries[SIDE] = string_attr(parameter.stream)
        marks.append(ir.DictAttr.get(entries, context()))
    return ir.ArrayAttr.get(marks, context())


def _has(file: str, name: str) -> bool:
    return hasattr(_loaded(file), name)


def _loaded(file: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(file)
    except OSError as error:
        raise KernelError(f"'{file}' is no shared object that can be loaded: {error}") from None


def _link_object(function: ir.OpView, file: str) -> None:
    op = function.operation
    signature = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    passed = (
        all(map(_is_passed, signature.inputs))
        and len(signature.results) <= 1
        and all(str(kind) in _NUMBERS for kind in signature.results)
    )
    if not passed:
        raise KernelError(
            f"'{function.name.value}' of {file} is declared with {signature}, which no function of C takes",
            at=location_of(op),
            hint=f"pass numbers ({', '.join(_NUMBERS)}) and arrays of fixed extents, and return one number at most",
        )
    names = argument_names(function)
    marks = [ir.DictAttr.get({"allo.name": string_attr(name)}, context()) for name in names]  # all arrays are written
    op.attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context())
    op.attributes["sym_visibility"] = string_attr("private")
    op.attributes[LINKED] = string_attr(file)
    give(LINKED, op.attributes[LINKED])


def _is_passed(kind: ir.Type) -> bool:
    if not isinstance(kind, ir.MemRefType):
        return str(kind) in _NUMBERS
    memref = ir.MemRefType(kind)
    return memref.has_static_shape and str(memref.element_type) in _ELEMENTS


def linked_functions(module: Module) -> dict[str, int]:
    """The addresses of the functions of shared objects that `module` declares, by the names that they get there.

    They are renamed, so that none is taken for a function that machine code needs for itself.
    """
    found = {}
    for function in list(module.functions()):
        op = function.operation
        if LINKED in op.attributes:
            file, name = ir.StringAttr(op.attributes[LINKED]).value, function.name.value
            if not _has(file, name):
                raise KernelError(f"'{file}' has no function '{name}' any more")
            address = ctypes.cast(getattr(_loaded(file), name), ctypes.c_void_p).value
            assert address is not None
            new = f"allo_linked_{name}"
            _rename(module, function, new)
            found[new] = address
    return found


def _rename(module: Module, function: ir.OpView, name: str) -> None:
    symbols = ir.SymbolTable(module.mlir.operation)
    ir.SymbolTable.replace_all_symbol_uses(function.name.value, name, module.mlir.operation)
    symbols.set_symbol_name(function.operation, name)
    del function.operation.attributes[LINKED]
    if "arg_attrs" in function.operation.attributes:
        del function.operation.attributes["arg_attrs"]
