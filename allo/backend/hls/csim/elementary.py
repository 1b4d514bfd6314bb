"""Elementary functions in C++: the header `allo_sim/elementary.h`, which is written by this module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ....ir.elementary.doubles import DOUBLES
from ....ir.elementary.functions import FUNCTIONS, Arithmetic
from ....ir.elementary.tables import WordTable

_HEAD = """// Elementary functions of floats with the bits that kernels define. Written by
// allo/backend/hls/csim/elementary.py from allo/ir/elementary.
#ifndef ALLO_SIM_ELEMENTARY_H
#define ALLO_SIM_ELEMENTARY_H

#include <cstdint>
#include <cstring>

namespace allo_sim {

inline std::int64_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

inline std::int64_t bits_of(double x) {
  std::int64_t bits;
  std::memcpy(&bits, &x, 8);
  return bits;
}
"""
_TAIL = """
}  // namespace allo_sim

#endif
"""
_WORDS = 8  # of a table in a line
_STANDARD = re.compile(rf"\bstd::(?=({'|'.join(FUNCTIONS)}|pow)\()")


def with_own_functions(code: str) -> str:
    """Code that is simulated: `std::exp` and the like, which some vendors have for them, are those of the header."""
    own = _STANDARD.sub("allo_sim::", code)
    return code if own == code else f"#include <allo_sim/elementary.h>\n{own}"


def header() -> str:
    """The text of the header."""
    tables = dict[str, WordTable]()
    functions = [*_functions(FUNCTIONS, "float", 32, tables), *_functions(DOUBLES, "double", 64, tables)]
    parts = [_HEAD.rstrip(), *map(_written, tables.values()), *functions]
    return "\n\n".join(parts) + _TAIL


def _functions(
    given: Mapping[str, Callable[..., _Expression]], kind: str, bits: int, tables: dict[str, WordTable]
) -> Iterator[str]:
    """The texts of functions of floats of so many bits; adds the tables that they read."""
    for name, function in given.items():
        text = _Text(tables)
        operands = ("x", "y") if name == "powf" else ("x",)
        result = function(text, *(text.keep(f"bits_of({operand})") for operand in operands))
        declared = ", ".join(f"{kind} {operand}" for operand in operands)
        yield "\n".join([
            f"inline {kind} {'pow' if name == 'powf' else name}({declared}) {{",
            *text.lines,
            f"  const auto word = std::uint{bits}_t({result.text});",
            f"  {kind} result;",
            f"  std::memcpy(&result, &word, {bits // 8});",
            "  return result;",
            "}",
        ])  # fmt: skip


def _written(table: WordTable) -> str:
    rows = [table.words[k : k + _WORDS] for k in range(0, len(table.words), _WORDS)]
    text = "\n".join("    " + " ".join(f"{word}," for word in row) for row in rows)
    return f"inline constexpr std::int64_t {table.name}[] = {{\n{text}\n}};"


type _Operand = _Expression | int


@dataclass(frozen=True, slots=True)
class _Expression:
    """A name, with the operators of Python."""

    text: str
    owner: _Text
    is_wide: bool = False

    def __add__(self, other: _Operand) -> _Expression:
        return self.owner.apply("+", self, other)

    def __sub__(self, other: _Operand) -> _Expression:
        return self.owner.apply("-", self, other)

    def __rsub__(self, other: int) -> _Expression:
        return self.owner.apply("-", other, self)

    def __mul__(self, other: _Operand) -> _Expression:
        return self.owner.apply("*", self, other)

    def __and__(self, other: int) -> _Expression:
        return self.owner.apply("&", self, other)

    def __lshift__(self, other: _Operand) -> _Expression:
        return self.owner.apply("<<", self, other)

    def __rshift__(self, other: _Operand) -> _Expression:
        return self.owner.apply(">>", self, other)

    def __neg__(self) -> _Expression:
        return self.owner.apply("-", 0, self)


class _Text(Arithmetic):
    """The lines of a function."""

    def __init__(self, tables: dict[str, WordTable]) -> None:
        self.lines: list[str] = []
        self._tables = tables

    def keep(self, text: str, *of: _Operand, is_wide: bool = False) -> _Expression:
        """A constant for an expression of these operands."""
        is_wide = is_wide or any(not isinstance(operand, int) and operand.is_wide for operand in of)
        name, kind = f"v{len(self.lines)}", "__int128" if is_wide else "std::int64_t"
        self.lines.append(f"  const {kind} {name} = {text};")
        return _Expression(name, self, is_wide)

    def apply(self, sign: str, a: _Operand, b: _Operand) -> _Expression:
        return self.keep(f"{_text(a)} {sign} {_text(b)}", a, b)

    def less(self, a: _Operand, b: _Operand) -> str:
        return f"{_text(a)} < {_text(b)}"

    def equal(self, a: _Operand, b: _Operand) -> str:
        return f"{_text(a)} == {_text(b)}"

    def select(self, condition: str, a: _Operand, b: _Operand) -> _Expression:
        return self.keep(f"{condition} ? {_text(a)} : {_text(b)}", a, b)

    def look_up(self, table: WordTable, index: _Expression) -> _Expression:
        self._tables[table.name] = table
        return self.keep(f"{table.name}[{index.text}]")

    def wide(self, number: _Expression) -> _Expression:
        return self.keep(number.text, is_wide=True)

    def narrow(self, number: _Expression) -> _Expression:
        return self.keep(f"std::int64_t({number.text})")

    def quotient(self, a: _Expression, b: _Expression) -> _Expression:
        return self.apply("/", a, b)

    def nearest(self, number: _Expression) -> _Expression:
        return self.keep(f"bits_of(float({number.text}))")

    def nearest_double(self, number: _Expression) -> _Expression:
        return self.keep(f"bits_of(double({number.text}))")


def _text(number: _Operand) -> str:
    return str(number) if isinstance(number, int) else number.text


if __name__ == "__main__":
    print(header(), end="")
