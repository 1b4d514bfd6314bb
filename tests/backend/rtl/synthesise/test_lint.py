"""Lint of designs of all kinds: nothing is said of them, and what is wrong is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl.library import MODULES, library_files
from allo.backend.rtl.synthesise import lint, linted
from allo.errors import ToolError
from allo.ir.types import Fixed, Stateful, float16, float32, int8, int32
from tests.backend.rtl import test_flows as flows
from tests.backend.rtl.test_random import designs
from tests.seeds import sweep

needs_slang = pytest.mark.skipif(not lint.is_available(), reason="needs slang: pip install allo[synth]")


def functions(x: float32[8], y: float16[8], z: Fixed(12, 4)[8]) -> float32:
    total: float32 = 0
    for i in range(8):
        x[i] = allo.exp(x[i]) / allo.sqrt(x[i])
        y[i] = x[i]
        z[i] = z[i] * z[i]
        total += x[i]
    return total


def counted(x: int8[8], n: int32) -> int32:
    count: Stateful[int32] = 3
    i: int32 = 0
    while i < n:
        if x[i] % 3 == 1:
            count += x[i] // 2 >> 1
        i += 1
    return count


def rows(x: int32[12, 6], y: int32[12, 6]):
    row: int32[6] = 0
    for i in range(12):
        for j in range(6):
            row[j] += x[i, j] * 5
        for j in range(6):
            y[i, j] = row[j]


def partitioned() -> allo.Schedule:
    s = allo.customize(rows)
    s.pipeline("S_i_0.j")
    s.partition("x", dim=2, factor=3)
    s.partition("row")
    return s


def systolic() -> allo.Schedule:
    s = df.customize(flows.systolic)
    flows.steps_of_systolic(s)
    return s


SPREAD: dict[str, Callable[[], allo.Schedule]] = {
    "functions": lambda: allo.customize(functions), "counted": lambda: allo.customize(counted),
    "rows": lambda: allo.customize(rows), "partitioned": partitioned, "systolic": systolic,
    "diamond": lambda: df.customize(flows.diamond), "by data": lambda: df.customize(flows.by_data),
    "lookup": lambda: df.customize(flows.lookup),
}  # fmt: skip


def assert_clean(built: Any) -> None:
    told = [*built.lint(), *linted(built.chip_files, built.design.board.name)]
    assert not told, "\n".join(map(str, told))


@needs_slang
@pytest.mark.parametrize("name", SPREAD)
def test_nothing_is_said_of_designs(name: str) -> None:
    assert_clean(SPREAD[name]().build(target="rtl"))


@needs_slang
@sweep(9, quick=0)
def test_nothing_is_said_of_random_designs(seed: int, tmp_path: Path) -> None:
    for _, _, built, _ in designs(seed, tmp_path):
        assert_clean(built)


@needs_slang
def test_nothing_is_said_of_the_library() -> None:
    names = list(MODULES)
    ends = "\n".join(f"  {name} i_{name} ();" for name in names)
    files = {**library_files(names), "all.sv": f"module all_of_them;\n{ends}\nendmodule\n"}
    told = [one for one in linted(files, "all_of_them") if one.file != "all.sv"]
    assert not told, "\n".join(map(str, told))


FAULTS = {
    "nothing drives": (
        "logic s;", "variable 's' is never assigned a value [unassigned-variable]", "assign y = {3'd0, s};",
    ),
    "latch": (
        "logic [3:0] s; always_comb if (x) s = 1;",
        "latch inferred for 's' because it is not assigned on all control paths [inferred-latch]", "assign y = s;",
    ),
    "two drivers": ("assign y = 1;", "cannot have multiple continuous assignments to variable 'y'", "assign y = 2;"),
    "signs": ("logic signed [3:0] s = 1;", "comparison of differently signed types", "assign y = 4'(s < z);"),
    "no module": ("nothing n ();", "unknown module 'nothing'", "assign y = 1;"),
}  # fmt: skip


@needs_slang
@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_said(name: str) -> None:
    text, wanted, end = FAULTS[name]
    head = "module m(input logic x, input logic [3:0] z, output logic [3:0] y);"
    told = [str(one) for one in linted({"m.sv": f"{head}\n{text}\n{end}\nendmodule\n"}, "m")]
    assert any(line.startswith("m.sv:") and wanted in line for line in told), told


@needs_slang
def test_what_slang_refuses() -> None:
    with pytest.raises(ToolError) as caught:
        linted({"m.sv": "module m;\nendmodule\n"}, "other")
    assert str(caught.value) == "slang does not read 'other':\nerror: 'other' is not a valid top-level module"


def test_without_slang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint, "is_available", lambda: False)
    with pytest.raises(ToolError) as caught:
        allo.customize(rows).build(target="rtl").lint()
    assert str(caught.value) == "lint needs slang, and it is not installed\n  hint: pip install allo[synth]"
