"""Counts of designs by unit and by element: which kinds there are, and that they and what is around them add up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl import units
from allo.backend.rtl.synthesise import Utilization, yosys
from allo.ir.types import float32
from tests.backend.rtl import test_flows as flows

NOTHING = Utilization(0, 0, 0, 0, 0, 0, 0, 0, 0)


def lanes(x: float32[16], y: float32[16], most: float32[16]):
    for i in range(16):
        most[i] = x[i] * 3.0 if x[i] < y[i] else y[i] * x[i]


def unrolled() -> allo.Schedule:
    s = allo.customize(lanes)
    s.pipeline(s.split("i", 2)[0])
    for array in ("x", "y", "most"):
        s.partition(array, factor=2)
    return s


def test_each_kind_of_unit_is_synthesised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[str] = []
    around: dict[str, Utilization] = {}

    def one(files: Mapping[str, str], _: str) -> Utilization:
        alone.append(files["unit.sv"].splitlines()[1].strip())
        return Utilization(100, 10, 2, 0, 0, 0, 0, 0, 0, clock=200.0)

    def rest(files: Mapping[str, str], top: str, boxes: Mapping[str, Utilization]) -> Utilization:
        around.update(boxes)
        assert f"module {top} (" in files[f"{top}.sv"] and "allo_pipe.sv" in files
        assert not any(f"{name}.sv" in files for name in ("allo_fmul", "allo_fcmp"))
        for name in boxes:
            assert f"module {name} (" in files["boxes.sv"]
            assert files[f"{top}.sv"].count(f"  {name} ") == 4 if "fmul" in name else 2
        return NOTHING

    monkeypatch.setattr(units, "synthesised", one)
    monkeypatch.setattr(units, "synthesised_around", rest)
    unrolled().build(target="rtl").synthesise(by_unit=True)
    assert [text.split(" ")[0] for text in sorted(alone)] == ["allo_fcmp", "allo_fmul"]
    assert sorted(around) == ["allo_fcmp_EXP8_MAN23_PRED4_LAT1", "allo_fmul_EXP8_MAN23_LAT4_FLUSH0"]


def test_elements_that_are_equal_are_synthesised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a systolic array, 9 elements inside are one module, and 4 rows and 4 columns of equal ones; of the other
    classes there are 3 elements or one."""
    tops: list[str] = []

    def rest(files: Mapping[str, str], top: str, boxes: Mapping[str, Utilization]) -> Utilization:
        tops.append(top)
        text = files[f"{top}.sv"]
        if top != "systolic":
            assert text.startswith(f"module {top} (") and text.count("\nmodule ") == 0
            return Utilization(7 if top == "element_0_0" else 3, 0, 0, 0, 0, 0, 0, 0, 0)
        assert "module element_0_0 (" not in text and "module element_3_3 (" in text
        assert boxes["element_0_0"].lut == 7 and boxes["allo_fifo_W8_DEPTH2"].lut == 5
        counts = {name: text.count(f"  {name} ") for name in boxes}
        total = Utilization(100, 0, 0, 0, 0, 0, 0, 0, 0)
        for name, count in counts.items():
            total = total.plus(boxes[name], count)
        return total

    monkeypatch.setattr(flows, "M", 4)
    monkeypatch.setattr(units, "synthesised", lambda *_: Utilization(5, 0, 0, 0, 0, 0, 0, 0, 0))
    monkeypatch.setattr(units, "synthesised_around", rest)
    s = df.customize(flows.systolic)
    flows.steps_of_systolic(s)
    found = s.build(target="rtl").synthesise(by_unit=True)
    assert sorted(tops) == ["element_0_0", "rows_0", "systolic"]
    assert isinstance(found, Utilization) and found.lut == 100 + 9 * 7 + 8 * 3 + 2 * 16 * 5


def test_counts_add_up() -> None:
    one = Utilization(100, 10, 2, 1, 0, 0, 5, 0, 3, clock=200.0)
    assert NOTHING.plus(one, 3) == Utilization(300, 30, 6, 3, 0, 0, 15, 0, 9)


@pytest.mark.exhaustive
@pytest.mark.skipif(not yosys.is_available(), reason="needs Yosys: pip install allo[synth]")
def test_it_is_about_what_the_whole_takes() -> None:
    def greater(x: float32[16], y: float32[16], most: float32[16]):
        for i in range(16):
            most[i] = x[i] if x[i] < y[i] else y[i]

    s = allo.customize(greater)
    s.pipeline("i")
    built = s.build(target="rtl")
    whole, parts = built.synthesise(), built.synthesise(by_unit=True)
    assert isinstance(whole, Utilization) and isinstance(parts, Utilization)
    assert whole.clock is not None and parts.clock is None
    assert (parts.dsp, parts.bram) == (whole.dsp, whole.bram) and whole.lut <= parts.lut <= 1.2 * whole.lut
