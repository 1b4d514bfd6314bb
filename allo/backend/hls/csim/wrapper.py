"""Wrapper of the C++ kernel: NumPy memory becomes its arguments, and its results memory again, where no hardware
interface does it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....ir.types import DYNAMIC, AlloType, Bool, Float, Index, Int, TensorType, UInt
from ....ir.words import container_bits, is_signed
from ...arguments.parameters import Parameter
from ...headers import templates_directory
from ..text.bits import BitWriter
from ..text.cxx_types import TypeNames
from ..text.expression import Expr
from ..text.module import Emitted, needed_functions, template

_MEMORY_FUNCTIONS = "csim_memory.h"


def simulation_text(arrays: int) -> str:
    """The file that is compiled for a simulation. Each process has a stack for so many bytes of arrays."""
    return template("code/csim.cpp").replace("@STACK@", str(2 * arrays + (1 << 20)))


def direct_call_text(
    emitted: Emitted,
    arguments: Sequence[Parameter],
    results: Sequence[AlloType | TensorType],
    asked: Sequence[int] = (),
) -> str:
    """`call.h`: the call of the kernel itself with blocks of memory.

    The first extents that types leave to run time are in memory behind the arguments; the kernel takes those of the
    arguments at the positions `asked`.
    """
    return _Wrapper(emitted, arguments).text(arguments, results, asked)


class _Wrapper:
    def __init__(self, emitted: Emitted, arguments: Sequence[Parameter]) -> None:
        opened = [n for n, p in enumerate(arguments) if isinstance(p.type, TensorType) and not p.type.is_static]
        self.extents = {n: len(arguments) + place for place, n in enumerate(opened)}  # where they are in memory
        self.emitted = emitted
        self.vendor = emitted.vendor
        self.types = TypeNames()
        self.types.structs = dict(emitted.structs)
        self.operations = BitWriter(self.types, self.vendor.words)
        self.before: list[str] = []
        self.after: list[str] = []

    def text(
        self, arguments: Sequence[Parameter], results: Sequence[AlloType | TensorType], asked: Sequence[int]
    ) -> str:
        values = [self._argument(n, p.type, is_written=p.written) for n, p in enumerate(arguments)]
        first = len(values) + len(self.extents)
        values += [self._extent(position) for position in asked]
        values += [self._argument(n, kind, is_result=True) for n, kind in enumerate(results, first)]
        assigned = f"{values.pop()} = " if self.emitted.returns else ""
        rest = "".join(f", {value}" for value in values)
        call = self.vendor.host.call.format(top=self.emitted.top, arguments=rest[2:], rest=rest)
        body = "\n".join(f"  {line}" for line in [*self.before, f"{assigned}{call};", *self.after])
        functions = self._functions()
        dialect = self.vendor.dialect
        header = f"#include <{dialect.integers}>\n" if "ap_" in functions + body else ""
        text = template(self.vendor.host.header).replace("@FUNCTIONS@", f"{header}\n{functions}")
        return dialect.checked(text.replace("@BODY@", body), self.vendor.name)

    def _functions(self) -> str:
        """What the conversions need and the kernel has not."""
        folder = self.vendor.dialect.folder
        _, parts = needed_functions(self.operations, folder, given=self.emitted.prelude)
        if any("_bits<" in line for line in self.before + self.after):
            own = f"code/{folder}/{_MEMORY_FUNCTIONS}"
            exists = bool(folder) and (templates_directory() / "hls" / own).is_file()
            parts.append(template(own if exists else f"code/{_MEMORY_FUNCTIONS}").rstrip())
        return "".join(f"{part}\n\n" for part in parts)

    def _argument(
        self, position: int, kind: AlloType | TensorType, *, is_written: bool = True, is_result: bool = False
    ) -> str:
        element, shape = (kind.element, kind.shape) if isinstance(kind, TensorType) else (kind, ())
        target = self.types.scalar(element)
        memory = f"memory[{position}]"
        name, count = f"value{position}", self._count(position, shape)
        # a vector of bool has no memory of bools
        stored = "unsigned char" if isinstance(element, Bool) else target
        block = self.vendor.host.block.format(element=stored) if shape else ""
        if _is_direct(element) and not block:
            return self._passed(target, shape, memory, count)
        if shape:
            self.before.append(f"{block or f'std::vector<{target}>'} {name}({count});")
        else:
            self.before.append(f"{target} {name};")
        if _is_direct(element):
            self._copied(f"{name}.data()", memory, f"{count} * sizeof({target})", is_written, is_result)
        else:
            is_written = is_written and (is_result or bool(shape))
            self._converted(element, f"{name}[n]" if shape else name, memory, count, is_written, is_result)
        return self._passed(target, shape, f"{name}.data()", count, is_written) if shape else name

    def _extent(self, position: int) -> str:
        """The first extent of an argument whose type has none."""
        return f"*static_cast<const std::int64_t *>(memory[{self.extents[position]}])"

    def _count(self, position: int, shape: Sequence[int]) -> str:
        """How many elements an array has."""
        return f"std::size_t({self._extent(position)}) * {prod(shape[1:])}" if DYNAMIC in shape else str(prod(shape))

    def _copied(self, place: str, memory: str, size: str, is_written: bool, is_result: bool) -> None:
        if not is_result:
            self.before.append(f"std::memcpy({place}, {memory}, {size});")
        if is_written:
            self.after.append(f"std::memcpy({memory}, {place}, {size});")

    def _converted(
        self, element: AlloType, place: str, memory: str, count: str, is_written: bool, is_result: bool
    ) -> None:
        """Elements that do not lie in memory as C++ has them are taken from their bits, and become them again."""
        bits, container = element.bits, container_bits(element)
        word = Expr(f"load_bits<{bits}, {container}>({memory}, n)", type=f"ap_uint<{bits}>")
        loop = f"for (std::size_t n = 0; n < {count}; n++)"
        if not is_result:
            self.before.append(f"{loop} {{ {place} = {self.operations.from_bits(element, word).text}; }}")
        if is_written:
            signed = "true" if is_signed(element) else "false"
            word = self.operations.bits_of(element, Expr(place, type=self.types.scalar(element)))
            self.after.append(
                f"{loop} {{ store_bits<{bits}, {container}, {signed}>({memory}, n, {word.text}); }}"
            )

    def _passed(
        self, element: str, shape: Sequence[int], pointer: str, count: str, is_written: bool = True
    ) -> str:
        """An argument whose elements lie at `pointer`."""
        if DYNAMIC in shape:
            behind = "".join(f"[{extent}]" for extent in shape[1:])
            return f"reinterpret_cast<{element} (*){behind}>({pointer})"
        extents = "".join(f"[{extent}]" for extent in shape)
        pattern = self.vendor.host.argument if shape else "*reinterpret_cast<{element} (*)>({pointer})"
        access = "read_write" if is_written else "read_only"
        return pattern.format(
            element=element, extents=extents, pointer=pointer, count=count, access=access
        )


def _is_direct(element: AlloType) -> bool:
    """Whether an element lies in memory as C++ has it."""
    if isinstance(element, Int | UInt):
        return element.width in (8, 16, 32, 64)
    return isinstance(element, Float | Bool | Index)
