"""External kernels in HLS C++: functions in a file that includes theirs, which is copied."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlir import ir

from ....errors import TargetError
from ....frontend.typing.external import ExternalParameter
from ....ir.module import Module
from ....ir.types import AlloType, TensorType
from ....ir.walk import location_of
from ...external.compiler import files_of, find_compiler
from ...external.cxx_types import CxxType
from ...external.linking import declared_signature, external_sources
from ...external.signature import Signature
from ...external.stream_wrapper import FifoType
from .cxx_types import TypeNames
from .names import identifier

FOLDER = "external"
# types of C++ that are another name of one of ours, where `long` has 64 bits
_SAME = {
    "signed char": "int8_t", "short": "int16_t", "int": "int32_t", "long": "int64_t", "unsigned char": "uint8_t",
    "unsigned short": "uint16_t", "unsigned int": "uint32_t", "unsigned long": "uint64_t", "size_t": "uint64_t",
}  # fmt: skip
_HEADERS = (
    ("ap_int<", "ap_int.h"), ("ap_uint<", "ap_int.h"), ("ap_fixed<", "ap_fixed.h"), ("ap_ufixed<", "ap_fixed.h"),
    ("half", "hls_half.h"), ("hls::stream<", "hls_stream.h"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExternalCode:
    """What external kernels bring: the prototypes of functions that call them, by the name of the declaration; files
    with their path in the project; those among them to be compiled; and the folders of their headers."""

    prototypes: Mapping[str, str]
    files: Mapping[str, str]
    units: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


NO_EXTERNAL = ExternalCode({}, {})


def external_names(module: Module, taken: set[str]) -> dict[str, str]:
    """What the functions are called that call the external kernels of `module`, by the name of the declaration."""
    return {name: identifier(f"{name}_call", taken, function=True) for name in external_sources(module)}


def external_code(
    module: Module, names: Mapping[str, str], types: TypeNames, fifo: str | None = "hls::stream<"
) -> ExternalCode:
    """The code around the external kernels of `module`; what the generated code calls a FIFO begins with `fifo`.

    Raises ToolError if the compiler is missing or cannot read a file, TargetError if a file has changed or a type does
    not fit.
    """
    sources = external_sources(module)
    if not sources:
        return NO_EXTERNAL
    compiler = find_compiler()
    prototypes: dict[str, str] = {}
    functions: dict[str, list[str]] = {}
    for name, source in sources.items():
        declaration = module.function(name)
        signature, kinds = declared_signature(compiler, source, declaration)
        if any(isinstance(kind, FifoType) for kind in kinds) and not (fifo or "").startswith("hls::stream<"):
            raise TargetError(
                f"the external kernel '{name}' takes an hls::stream, and the code for this tool has other FIFOs",
                at=location_of(declaration.operation), hint="leave out relay; it takes and fills arrays then",
            )  # fmt: skip
        caller = _Caller(declaration, signature, names[name], types)
        prototypes[name] = caller.head(kinds)
        functions.setdefault(signature.file, []).append(caller.text(kinds))
    used = {
        file: files_of(compiler, source, file)
        for source in sources.values()
        for file in dict.fromkeys((*source.headers, *source.implementations))
    }
    root = Path(os.path.commonpath([str(Path(path).parent) for paths in used.values() for path in paths]))
    files = {_place(root, path): _content(path) for paths in used.values() for path in paths}
    units = [_place(root, f) for s in sources.values() for f in s.implementations if f not in functions]
    for number, (file, texts) in enumerate(functions.items()):
        unit = f"{FOLDER}/calls_{number}.cpp" if number else f"{FOLDER}/calls.cpp"
        included = os.path.relpath(_place(root, file), FOLDER)
        files[unit] = _unit(included, texts)
        units.append(unit)
    search = [Path(folder).resolve() for source in sources.values() for folder in source.search_paths]
    folders = [_place(root, str(folder)) for folder in search if folder.is_relative_to(root)]
    return ExternalCode(prototypes, files, tuple(dict.fromkeys(units)), tuple(dict.fromkeys(folders)))


def _place(root: Path, path: str) -> str:
    """Where a file or folder lies in the project."""
    relative = Path(path).relative_to(root).as_posix()
    return f"{FOLDER}/source" if relative == "." else f"{FOLDER}/source/{relative}"


def _content(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


def _unit(included: str, functions: Sequence[str]) -> str:
    body = "\n\n".join(functions)
    headers = dict.fromkeys(header for name, header in _HEADERS if name in body)
    lines = ["// Calls of external kernels, with the types of the generated code.", "#include <cstdint>"]
    lines += [f"#include <{header}>" for header in headers]
    return "\n".join([*lines, f'#include "{included}"', "", body, ""])


class _Caller:
    """The function that calls one external kernel; it copies what has another type there."""

    def __init__(self, declaration: ir.OpView, signature: Signature, name: str, types: TypeNames) -> None:
        self.at = location_of(declaration.operation)
        self.signature = signature
        self.name = name
        self.types = types
        result = signature.kernel.result
        self.result = "void" if result is None else types.scalar(result)
        taken: set[str] = set()
        self.labels = [identifier(parameter.name, taken) for parameter in signature.parameters]
        self.taken = taken

    def head(self, kinds: Sequence[AlloType | TensorType | FifoType]) -> str:
        """The prototype."""
        listed = zip(self.labels, self.signature.kernel.parameters, kinds, strict=True)
        return f"{self.result} {self.name}({', '.join(self._declared(*each) for each in listed)})"

    def text(self, kinds: Sequence[AlloType | TensorType | FifoType]) -> str:
        """The definition."""
        before: list[str] = []
        after: list[str] = []
        arguments = []
        parameters = zip(self.labels, self.signature.parameters, self.signature.kernel.parameters, kinds, strict=True)
        for label, cxx, interface, kind in parameters:
            if isinstance(kind, FifoType):
                arguments.append(self._fifo(label, cxx, kind))
            elif interface.stream and isinstance(kind, TensorType):
                arguments.append(self._stream(label, cxx, interface, kind, before, after))
            elif isinstance(kind, TensorType):
                arguments.append(self._array(label, cxx, interface, kind, before, after))
            else:
                arguments.append(_value(cxx, label))
        call = _value(self.signature.result, f"{self.signature.called}({', '.join(arguments)})")
        if self.result != "void" and after:
            call, after = f"{self.result} {identifier('result', self.taken)} = {call}", [*after, "return result;"]
        elif self.result != "void":
            call = f"return {call}"
        lines = [line if line.startswith("#") else f"  {line}" for line in (*before, f"{call};", *after)]
        return "\n".join([f"{self.head(kinds)} {{", *lines, "}"])

    def _declared(
        self, label: str, interface: ExternalParameter, kind: AlloType | TensorType | FifoType
    ) -> str:
        if isinstance(kind, FifoType):
            return f"hls::stream<{self.types.scalar(kind.element)}> &{label}"
        if not isinstance(kind, TensorType):
            return f"{self.types.scalar(kind)} {label}"
        constant = "" if interface.written else "const "
        return f"{constant}{self.types.scalar(kind.element)} {label}{_extents(kind.shape)}"

    def _same(self, cxx: CxxType, element: AlloType) -> bool:
        """Whether C++ has the type of ours there, perhaps by another name."""
        spelling = cxx.spelling.removeprefix("std::")
        return _SAME.get(spelling, spelling) == self.types.scalar(element)

    def _fifo(self, label: str, cxx: CxxType, kind: FifoType) -> str:
        wanted = f"hls::stream<{self.types.scalar(kind.element)}>"
        if not self._same(cxx, kind.element) or cxx.stream != f"hls::stream<{cxx.spelling}>":
            raise TargetError(
                f"parameter '{cxx.name}' of the external kernel '{self.signature.kernel.name}' is `{cxx.stream} &`, "
                f"and the generated code has `{wanted}` there",
                at=self.at, hint=f"declare it as `{wanted} &`",
            )  # fmt: skip
        return label

    def _stream(
        self,
        label: str,
        cxx: CxxType,
        interface: ExternalParameter,
        kind: TensorType,
        before: list[str],
        after: list[str],
    ) -> str:
        """A FIFO that an array is put into, or got from."""
        fifo = identifier(f"{label}_stream", self.taken)
        before.append(f'{cxx.stream} {fifo}("{label}");')
        before.append(f"#pragma HLS stream variable={fifo} depth={math.prod(kind.shape)}")
        element = f"{label}{_subscripts(kind.shape)}"
        if interface.stream == "in":
            before += _loops(kind.shape, f"{fifo}.write({_value(cxx, element)});")
        else:
            after += _loops(kind.shape, f"{element} = {_value(cxx, f'{fifo}.read()')};")
        return fifo

    def _array(
        self,
        label: str,
        cxx: CxxType,
        interface: ExternalParameter,
        kind: TensorType,
        before: list[str],
        after: list[str],
    ) -> str:
        """An array as it is, or a copy whose elements have the type in C++."""
        flat = (cxx.pointer and not cxx.extents) or cxx.extents == (None,)
        whole = bool(cxx.extents) and cxx.reference
        name = label
        if not self._same(cxx, kind.element) or whole:
            name = identifier(f"{label}_copy", self.taken)
            before.append(f"{cxx.spelling} {name}{_extents(kind.shape)};")
            place = _subscripts(kind.shape)
            before += _loops(kind.shape, f"{name}{place} = {_value(cxx, label + place)};")
            if interface.written:
                after += _loops(kind.shape, f"{label}{place} = {_value(cxx, name + place)};")
        if not cxx.extents and not cxx.pointer:  # `int &x`
            return f"{name}[0]"
        return f"&{name}{'[0]' * len(kind.shape)}" if flat and len(kind.shape) > 1 else name


def _value(cxx: CxxType, text: str) -> str:
    """A value that becomes one of the other side: `half` and `_Float16` know each other through `float` only."""
    return f"float({text})" if cxx.spelling == "_Float16" else text


def _extents(shape: Sequence[int]) -> str:
    return "".join(f"[{extent}]" for extent in shape)


def _subscripts(shape: Sequence[int]) -> str:
    return "".join(f"[k{d}]" for d in range(len(shape)))


def _loops(shape: Sequence[int], statement: str) -> list[str]:
    """The statement for all elements, in the order of memory."""
    lines = [f"{'  ' * d}for (int k{d} = 0; k{d} < {extent}; k{d}++)" for d, extent in enumerate(shape)]
    return [*lines, f"{'  ' * len(shape)}{statement}"]
