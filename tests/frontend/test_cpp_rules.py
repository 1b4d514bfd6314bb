"""The C++ rule set against a C++ compiler: types by `decltype`, values of random expressions."""

from __future__ import annotations

import ctypes
import itertools
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.frontend.typing.tables import CPP
from allo.ir.types import AlloType, Bool, Float, Int, UInt, float32, float64, int32, int64, uint32
from allo.ir.types import bool as bool_type
from tests.seeds import sweep

from .random_expressions import load

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs the C++ compiler g++")

NAMES: dict[AlloType, str] = {
    kind(w): f"{p}int{w}_t" for kind, p in ((Int, ""), (UInt, "u")) for w in (8, 16, 32, 64)
}
NAMES |= {bool_type: "bool", float32: "float", float64: "double"}
OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "compare")
ROWS = 40


def run(source: str, folder: Path, *flags: str) -> Path:
    (folder / "source.cpp").write_text(source)
    made = folder / "made"
    command = [COMPILER or "g++", "-std=c++20", "-w", *flags, "-o", str(made), str(folder / "source.cpp")]
    subprocess.run(command, check=True)
    return made


def described(scalar: AlloType) -> str:
    """Kind and width, as the C++ program prints them."""
    kind = "float" if isinstance(scalar, Float) else "int" if isinstance(scalar, Int) else "uint"
    return f"{kind}{8 if isinstance(scalar, Bool) else scalar.bits}"


def test_types(tmp_path: Path) -> None:
    lines, wanted = [], []
    for op, (lhs, left), (rhs, right) in itertools.product(OPERATORS, NAMES.items(), NAMES.items()):
        result = CPP.result(op, lhs, rhs)
        if result is None or (op == "%" and isinstance(result, Float)):
            continue  # % of floats is that of C's fmod here, and no operator in C++
        if op == "compare" and lhs == rhs:
            continue  # a ternary of two values of one type has that type
        shown = "true ? a : b" if op == "compare" else f"a {op} b"
        lines.append(f"{{ {left} a{{}}; {right} b{{}}; show<decltype({shown})>(); }}")
        wanted.append(described(result))
    source = """#include <cstdint>
#include <cstdio>
#include <type_traits>
template <class T> void show() {
  using U = std::remove_reference_t<T>;
  auto kind = std::is_floating_point_v<U> ? "float" : std::is_signed_v<U> ? "int" : "uint";
  std::printf("%s%d\\n", kind, int(sizeof(U) * 8));
}
int main() {
"""
    program = run(source + "\n".join(lines) + "\n}\n", tmp_path)
    found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    assert found == wanted and len(wanted) > 1000


def expression(numbers: random.Random, names: list[str], depth: int) -> str:
    """Text that means the same in Python and in C++: no division by zero, no shift out of range."""
    if depth == 0:
        return numbers.choice([*names, "3", "200", "(-7)"])
    op = numbers.choice(["+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>", "~", "neg", "<", "=="])
    left, right = (expression(numbers, names, depth - 1) for _ in range(2))
    match op:
        case "/" | "%":
            return f"({left} {op} (({right} & 6) + 1))"
        case "<<" | ">>":
            return f"({left} {op} ({numbers.choice(names)} & 7))"
        case "~" | "neg":
            return f"({'~' if op == '~' else '-'}({left} + {numbers.choice(names)}))"
        case "<" | "==":
            return f"(({left} {op} {right}) + {numbers.choice(names)})"
    return f"({left} {op} {right})"


def values_in_cpp(
    expressions: list[str], columns: dict[str, Any], types: dict[str, str], folder: Path
) -> Any:
    body = "\n".join(
        f"    out[row * {len(expressions)} + {k}] = (uint64_t){e};" for k, e in enumerate(expressions)
    )
    declared = "\n".join(f"    {types[n]} {n} = in[row * {len(types)} + {k}];" for k, n in enumerate(types))
    source = f"""#include <cstdint>
extern "C" void kernel(const int64_t *in, uint64_t *out) {{
  for (int row = 0; row < {ROWS}; ++row) {{
{declared}
{body}
  }}
}}
"""
    library = ctypes.CDLL(str(run(source, folder, "-shared", "-fPIC", "-fwrapv")))
    given = np.stack(list(columns.values()), axis=1).copy()
    out = np.zeros((ROWS, len(expressions)), np.uint64)
    library.kernel(given.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
    return given, out


@sweep(5)
def test_values(seed: int, tmp_path: Path) -> None:
    numbers, generator = random.Random(seed), np.random.default_rng(seed)
    integers = [scalar for scalar in NAMES if isinstance(scalar, Int | UInt)]
    types = {f"v{k}": scalar for k, scalar in enumerate(integers)}
    expressions = [expression(numbers, list(types), 3) for _ in range(20)]
    bits = generator.integers(-(1 << 63), (1 << 63) - 1, (len(types), ROWS))
    columns = {name: row >> generator.integers(0, 63, ROWS) for name, row in zip(types, bits, strict=True)}
    given, wanted = values_in_cpp(expressions, columns, {n: NAMES[t] for n, t in types.items()}, tmp_path)
    lines = [f"{name}: {types[name]!r} = A[s, {k}]" for k, name in enumerate(types)]
    lines += [f"O[s, {k}] = {text}" for k, text in enumerate(expressions)]
    head = f"def kernel(A: int64[{ROWS}, {len(types)}], O: uint64[{ROWS}, {len(expressions)}]):\n"
    loop = f"    for s in range({ROWS}):\n" + "".join(f"        {line}\n" for line in lines)
    kernel = load(f"from allo.ir.types import *\n\n\n{head}{loop}", tmp_path)
    found = np.zeros_like(wanted)
    allo.customize(kernel, typing_rule_set="cpp").build()(given, found)
    different = np.flatnonzero((found != wanted).any(axis=0))
    assert not different.size, expressions[different[0]]


def moved_left(x: int32, n: int32) -> (int64, int64):
    return x << 4, x << n


@pytest.mark.parametrize(("rules", "constant"), [("cpp", 16), ("default", (1 << 32) + 16)])
def test_a_shift_by_a_constant_wraps_as_one_by_a_number_does(rules: str, constant: int) -> None:
    """By the rules of C++ both have the type of the left operand; by ours the constant one is as wide as it needs."""
    built = allo.customize(moved_left, typing_rule_set=rules).build()
    assert built((1 << 28) + 1, 4) == (constant, 16)


def test_a_literal_in_a_choice_counts_as_elsewhere() -> None:
    """2147483648 is a `long` in C++, also beside an `unsigned int`."""
    def halves(c: int32, v: uint32) -> int64:
        return (v if c > 5 else 2147483648) // (-2)

    s = allo.customize(halves, typing_rule_set="cpp")
    reference = allo.interpret(halves, typing_rule_set="cpp")
    assert s.build()(0, 3) == reference(0, 3) == -(2**30)
