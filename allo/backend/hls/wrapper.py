"""Decides how NumPy memory becomes the arguments of the C++ kernel, and its results memory again, in a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...ir.types import AlloType, Bool, Float, Index, Int, TensorType, UInt
from ...ir.words import container_bits, is_signed
from .bits import BitWriter
from .cxx_types import TypeNames
from .emit import Emitted, needed_functions, template
from .expression import Expr

ENTRY = "allo_csim"


def wrapper_text(
    emitted: Emitted, arguments: Sequence[AlloType | TensorType], results: Sequence[AlloType | TensorType]
) -> str:
    """A file with the function `ENTRY(void **memory)`: null, or the message of what went wrong."""
    return _Wrapper(emitted).text(arguments, results)


class _Wrapper:
    def __init__(self, emitted: Emitted) -> None:
        self.emitted = emitted
        self.types = TypeNames()
        self.types.structs = dict(emitted.structs)
        self.operations = BitWriter(self.types)
        self.before: list[str] = []
        self.after: list[str] = []

    def text(
        self, arguments: Sequence[AlloType | TensorType], results: Sequence[AlloType | TensorType]
    ) -> str:
        kinds = [*arguments, *results]
        values = [self._argument(n, kind, is_result=n >= len(arguments)) for n, kind in enumerate(kinds)]
        returned = len(results) == 1 and not isinstance(results[0], TensorType)
        if returned:
            call = f"{values.pop()} = ::{self.emitted.top}({', '.join(values)});"
        else:
            call = f"::{self.emitted.top}({', '.join(values)});"
        body = "\n".join(f"    {line}" for line in [*self.before, call, *self.after])
        functions = self._functions()
        includes = "#include <vector>\n" if any("std::vector<" in line for line in self.before) else ""
        includes += "#include <ap_int.h>\n" if "ap_" in functions + body else ""
        functions = "\n".join(part for part in (includes, functions) if part)
        text = template("code/csim.cpp").replace("@FUNCTIONS@", functions).replace("@BODY@", body)
        return text.replace("@ENTRY@", ENTRY)

    def _functions(self) -> str:
        """What the conversions need and the kernel has not."""
        _, parts = needed_functions(self.operations, given=self.emitted.prelude)
        if any("_bits<" in line for line in self.before + self.after):
            parts.append(template("code/csim_memory.h").rstrip())
        return "".join(f"{part}\n\n" for part in parts)

    def _argument(self, position: int, kind: AlloType | TensorType, *, is_result: bool) -> str:
        element, shape = (kind.element, kind.shape) if isinstance(kind, TensorType) else (kind, ())
        target = self.types.scalar(element)
        memory = f"memory[{position}]"
        if _is_direct(element):
            return self._passed(target, kind, memory)
        name = f"value{position}"
        count = 1
        for extent in shape:
            count *= extent
        bits, container = element.bits, container_bits(element)
        if shape:
            self.before.append(f"std::vector<{target}> {name}({count});")
        else:
            self.before.append(f"{target} {name};")
        place = f"{name}[n]" if shape else name
        word = Expr(f"load_bits<{bits}, {container}>({memory}, n)", type=f"ap_uint<{bits}>")
        loop = f"for (std::size_t n = 0; n < {count}; n++)"
        if not is_result:
            self.before.append(f"{loop} {{ {place} = {self.operations.from_bits(element, word).text}; }}")
        if is_result or shape:
            signed = "true" if is_signed(element) else "false"
            word = self.operations.bits_of(element, Expr(place, type=target))
            self.after.append(
                f"{loop} {{ store_bits<{bits}, {container}, {signed}>({memory}, n, {word.text}); }}"
            )
        return self._passed(target, kind, f"{name}.data()") if shape else name

    def _passed(self, element: str, kind: AlloType | TensorType, pointer: str) -> str:
        """An argument whose elements lie at `pointer`."""
        shape = kind.shape if isinstance(kind, TensorType) else ()
        extents = "".join(f"[{extent}]" for extent in shape)
        pattern = self.emitted.argument if shape else "*reinterpret_cast<{element} (*)>({pointer})"
        return pattern.format(element=element, extents=extents, pointer=pointer, count=prod(shape))


def _is_direct(element: AlloType) -> bool:
    """Whether an element lies in memory as C++ has it."""
    if isinstance(element, Int | UInt):
        return element.width in (8, 16, 32, 64)
    return isinstance(element, Float | Bool | Index)
