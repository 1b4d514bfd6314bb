"""Text of contractions for MLIR-AIE: its cores do what the model's do, and its sequence is that of the program."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from allo.backend.aie.contraction import contraction_kernels, contraction_text
from allo.backend.aie.kernels import kernel_headers
from allo.backend.external.compiler import find_compiler
from allo.errors import ContractionError
from allo.mapping.teir.npu import NpuArray, NpuProgram, NpuTransfer, npu_program, run_on_array
from allo.mapping.teir.npu.model import turned_tile
from tests.mapping.teir.npu.test_npu import tec_of

BF16 = ml_dtypes.bfloat16


def program_of(a: int = 6, b: int = 7, order: str = "abc", array: NpuArray | None = None) -> NpuProgram:
    sizes = {"a": a, "b": b, "c": 3, "d": 8, "e": 4, "f": 16}
    return npu_program(tec_of("acdf,bcfe->abde", sizes, "def", order), array or NpuArray())


def bodies(text: str) -> dict[tuple[int, int], list[str]]:
    """The lines of each core by (row, column), without the endless loop around them."""
    found = re.findall(r"%core_(\d)_(\d) = aie\.core\(%tile_\1_\2\) \{\n(.*?)\n      aie\.end", text, re.DOTALL)
    return {(int(row) - 2, int(column)): body.splitlines() for column, row, body in found}


def run(lines: list[str]) -> Iterator[str]:
    """What a body does, one loop after the other: the names of FIFOs that it acquires, and of what it calls."""
    bounds: dict[str, int] = {}
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if constant := re.fullmatch(r"(%\w+) = arith\.constant (\d+) : index", line):
            bounds[constant[1]] = int(constant[2])
        elif loop := re.fullmatch(r"scf\.for %\w+ = %c0 to (%\w+) step %c1 \{", line):
            indent = len(lines[at]) - len(lines[at].lstrip())
            end = next(k for k in range(at, len(lines)) if lines[k] == " " * indent + "}")
            trips = bounds[loop[1]]
            for _ in range(1 if trips == 0x7FFFFFFF else trips):
                yield from run(lines[at + 1 : end])
            at = end
        elif used := re.search(r'"aie\.objectfifo\.(acquire|release)"\(\) \{objFifo_name = @(\w+)', line):
            yield f"{used[1]} {used[2]}"
        elif called := re.match(r"func\.call @(\w+)", line):
            yield called[1]
        at += 1


def expected(program: NpuProgram, row: int, column: int) -> Iterator[str]:
    one, two, out = f"in0_{row}_cores", f"in1_{column}_cores", f"out_{row}_{column}"
    for event in program.core(row, column):
        if event.kind == "zero":
            yield from (f"acquire {out}", "contraction_zero")
        elif event.kind == "first":
            yield from (f"acquire {out}", f"acquire {two}", "contraction_first", f"release {two}")
        elif event.kind == "relu":
            yield "contraction_relu"
        elif event.kind == "send":
            yield f"release {out}"
        elif event.kind == "drop":
            name = (one, two)[event.tensor]
            yield from (f"acquire {name}", f"release {name}") * event.count
        else:
            around = (f"acquire {one}", f"acquire {two}", "contraction_gemm", f"release {one}", f"release {two}")
            yield from around * event.count


@pytest.mark.parametrize("size", [(6, 7), (3, 2), (8, 4)], ids=str)
@pytest.mark.parametrize("order", ["abc", "bac"])
def test_cores_do_what_the_program_says(size: tuple[int, int], order: str) -> None:
    program = program_of(*size, order=order)
    found = bodies(contraction_text(program))
    rows, columns = program.loops.rows.parts, program.loops.columns.parts
    assert set(found) == {(r, c) for r in range(rows) for c in range(columns)}
    for core, lines in found.items():
        assert list(run(lines)) == list(expected(program, *core))


def test_cores_begin_with_first_values_and_end_with_relu() -> None:
    program = with_ends("copy")
    text = contraction_text(program)
    for core, lines in bodies(text).items():
        assert list(run(lines)) == list(expected(program, *core))
    assert "dma_memcpy_nd(%init[0, 0, 0, 128][1, 4, 16, 4][0, 448, 4, 1])" in text and "@contraction_zero" not in text
    assert "(%in0: memref<4608xbf16>, %in1: memref<1344xbf16>, %out: memref<2688xbf16>, %init: memref" in text


def with_ends(first: str, side: int = 16, columns: int = 4) -> NpuProgram:
    """The same contraction with M = K = `side`, first values, and relu at the end."""
    expression = "acdf,bcfe->abde"
    sizes = {"a": 6, "b": 7, "c": 3, "d": side, "e": columns, "f": side}
    return npu_program(replace(tec_of(expression, sizes, "def", "abc"), prim_first=first, prim_last="relu"))


FORMS = [(*turned, 76, k, 68) for turned in product((False, True), repeat=3) for k in (24, 20)] + [
    (False, False, False, *size) for size in ((4, 8, 4), (4, 4, 4), (16, 16, 12), (20, 40, 16), (8, 12, 72))
]


@pytest.mark.parametrize("forms", [FORMS[3:11:7], pytest.param(FORMS, marks=pytest.mark.slow)], ids=["one", "all"])
def test_kernels_in_the_vector_api(forms: list[tuple[Any, ...]], tmp_path: Path) -> None:
    """Compiled for the host: sizes with edges, tiles that are turned, in the blocks that the model has."""
    programs = [program_of_tile(*form) for form in forms]
    texts = [contraction_kernels(p).replace("void contraction_", f"void p{k}_") for k, p in enumerate(programs)]
    library = compiled("".join(texts), tmp_path)
    values = np.random.default_rng(0)
    for number, program in enumerate(programs):
        in0, in1, out = (values.integers(-3, 4, program.tec.extent(t)).astype(BF16) for t in range(3))
        tiles = [turned_tile(array, program.layout(t)) for t, array in ((0, in0), (1, in1))]
        sums = np.empty_like(out)
        call(library, f"p{number}_zero", sums)
        call(library, f"p{number}_gemm", *tiles, sums)
        run_on_array(program, in0, in1, out)
        np.testing.assert_array_equal(turned_tile(sums, program.layout(2)), out)


@pytest.mark.parametrize("side", [12, pytest.param(16, marks=pytest.mark.slow)])
def test_kernels_of_first_and_last_values(side: int, tmp_path: Path) -> None:
    program = with_ends("relu", side, 8)
    library = compiled(contraction_kernels(program), tmp_path)
    given = np.random.default_rng(0).integers(-3, 4, (side, 8)).astype(BF16)
    out = np.empty(side * 8, BF16)
    call(library, "contraction_first", turned_tile(given.reshape(-1), program.layout(1)), out)
    np.testing.assert_array_equal(turned_tile(out, program.layout(2)), np.maximum(given, BF16(0)).reshape(-1))
    out = np.array(given.reshape(-1))
    call(library, "contraction_relu", out)
    np.testing.assert_array_equal(out, np.maximum(given, BF16(0)).reshape(-1))


def program_of_tile(in0: bool, in1: bool, out: bool, m: int, k: int, n: int) -> NpuProgram:
    labels = ("fd" if in0 else "df", "ef" if in1 else "fe", "ed" if out else "de")
    return npu_program(tec_of("{},{}->{}".format(*labels), {"d": m, "e": n, "f": k}, "def", ""))


def compiled(text: str, folder: Path) -> ctypes.CDLL:
    """A library of kernels, by the compiler of the host."""
    source, made = folder / "contraction.cc", folder / "contraction.so"
    source.write_text(text)
    includes = [f"-I{folder}" for folder in kernel_headers()]
    find_compiler().run(["-std=c++17", "-O1", "-shared", "-fPIC", *includes, str(source), "-o", str(made)], "a kernel")
    return ctypes.CDLL(str(made))


def call(library: ctypes.CDLL, name: str, *arrays: Any) -> None:
    getattr(library, name)(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))


def test_cores_parse_as_upstream_mlir() -> None:
    with ir.Context() as own:
        own.allow_unregistered_dialects = True
        for lines in bodies(contraction_text(program_of())).values():
            kinds = dict(re.findall(r"call @(\w+)\(.*\) : (\(.*\)) ->", "\n".join(lines)))
            declared = "\n".join(f"func.func private @{name}{kind}" for name, kind in kinds.items())
            body = "\n".join(lines)
            assert ir.Module.parse(f"{declared}\nfunc.func @core() {{\n{body}\nreturn\n}}").operation.verify()


def test_tiles_go_along_rows_and_columns_and_come_back_joined() -> None:
    text = contraction_text(program_of(6, 8))
    layout = r"\[<size = 2, stride = 64>, <size = 2, stride = 8>, <size = 4, stride = 16>, <size = 8, stride = 1>\]"
    row = r"@in0_1_cores\(%tile_1_1 dimensionsToStream " + layout
    assert re.search(row + r", \{%tile_0_3, %tile_1_3, %tile_2_3, %tile_3_3\}, 2 : i32\) : .*<memref<128xbf16>>", text)
    assert "aie.objectfifo.link [@in1_2] -> [@in1_2_cores] ([] [0])" in text
    assert "aie.objectfifo.link [@out_0_3, @out_1_3] -> [@out_3_rows_0_1] ([0, 32] [])" in text
    declared = set(re.findall(r"aie\.objectfifo @(\w+)\(", text))
    used = set(re.findall(r"(?:objFifo_name|metadata|symbol) = @(\w+)|\[@(\w+)\]", text))
    assert {name for pair in used for name in pair if name} <= declared


def test_the_sequence_is_that_of_the_program() -> None:
    program = program_of(12, 7)
    lines = contraction_text(program).split("aie.runtime_sequence")[1].splitlines()[1:-3]
    assert len(lines) == len(program.sequence)
    for line, item in zip(lines, program.sequence, strict=True):
        if isinstance(item, NpuTransfer):
            sizes, strides = ("[" + ", ".join(map(str, n)) + "]" for n in (item.sizes, item.strides))
            assert f"[0, 0, 0, {item.offset}]{sizes}{strides})" in line and f"{{id = {item.descriptor} : i64" in line
            assert (", issue_token = true}" in line) == (item.tensor == 2)
        else:
            assert f"dma_wait {{symbol = @out_{item.column}_rows_{item.rows[0]}_{item.rows[-1]}}}" in line


def test_releases() -> None:
    old, new = (contraction_text(program_of(), dialect) for dialect in ("v1.0", "current"))
    assert "aie.device(npu1_4col)" in old and "aiex.runtime_sequence(" in old
    assert old.count('} {link_with = "contraction.o"}') == 16 and new.count("} {link_with") == 0
    assert new.count('attributes {link_with = "contraction.o"}') == 2 and "aie.device(npu1) " in new


def test_refused() -> None:
    with pytest.raises(ContractionError) as error:
        contraction_text(program_of(), "v2")
    assert str(error.value) == "there is no release 'v2' of MLIR-AIE; there is 'v1.0', 'current'"
    with pytest.raises(ContractionError) as error:
        contraction_text(program_of(array=NpuArray(columns=5)))
    assert str(error.value) == "npu1 has 4 columns, and the program is for 5"
