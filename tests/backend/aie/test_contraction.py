"""Text of contractions for MLIR-AIE: its cores do what the model's do, and its sequence is that of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from mlir import ir

from allo.backend.aie.contraction import contraction_text
from allo.errors import ContractionError
from allo.mapping.teir.npu import NpuArray, NpuProgram, NpuTransfer, npu_program
from tests.mapping.teir.npu.test_npu import tec_of


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
