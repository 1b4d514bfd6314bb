"""The forms of an estimate: table, JSON, page; and what is refused."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import json
from dataclasses import astuple
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import allo
from allo.errors import TargetError
from allo.estimate import Resources
from allo.ir.types import float32
from allo.target import Target

ROOT = Path(__file__).resolve().parents[2]


def kernel(A: float32[64], B: float32[64]):
    for i in range(1, 63):
        B[i] = A[i - 1] + A[i] + A[i + 1]


def scheduled() -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline("i")
    return s


def test_the_table() -> None:
    assert str(scheduled().report(target="u280")) == (
        "kernel on u280 at 300 MHz; all figures are *estimated*\n"
        "  latency *142* cycles = 0.0004733 ms\n"
        "  *2* DSP (0.0222 %), *0* BRAM18 (0 %), *0* URAM (0 %), *466* LUT (0.0357 %), *656* FF (0.0252 %)\n"
        "\n"
        "function  latency  interval  DSP  BRAM18  URAM  LUT  FF   instances\n"
        "--------  -------  --------  ---  ------  ----  ---  ---  ---------\n"
        "kernel    142      142       2    0       0     466  656  1\n"
        "\n"
        "loop            trips  latency  II  depth  bound  because\n"
        "--------------  -----  -------  --  -----  -----  -------------------------------\n"
        "kernel:S_i_0.i  62     142      2   15     142    3 reads of bank 0 of A, 2 ports\n"
        "\n"
        "would gain  at        step\n"
        "----------  --------  -----------------------------------------------\n"
        '61          kernel:i  s.partition(s.reuse_at("kernel:A", "kernel:i"))'
    )


def test_a_report_without_a_target_is_still_the_structure() -> None:
    assert type(scheduled().report()).__name__ == "StructureReport"


def test_the_keys_of_the_json() -> None:
    data = json.loads(allo.estimate(scheduled()).to_json())
    assert (data["schema"], data["estimated"], data["top"], data["target"]) == (1, True, "kernel", "u280")
    assert data["cycles"] == 142
    function = data["functions"][0]
    assert sorted(function) == sorted(
        ["advice", "dataflow", "instances", "interval", "latency", "loops", "name", "own", "resources", "timelines"]
    )
    assert sorted(function["resources"]) == ["bram18", "dsp", "ff", "lut", "uram"]
    assert sorted(function["loops"][0]) == sorted(
        [
            *("advice", "bound", "depth", "exact", "fewest", "function", "interval", "latency", "level", "most"),
            *("name", "nest", "reason", "requested", "state", "trips"),
        ]
    )
    assert function["loops"][0]["reason"] == {"kind": "ports", "text": "3 reads of bank 0 of A, 2 ports"}


class Checker(HTMLParser):
    """Collects what a page refers to, and checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [str(value) for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_complete() -> None:
    text = allo.estimate(scheduled()).to_html()
    checker = Checker()
    checker.feed(text)
    assert not checker.open and not checker.references
    assert "<script" not in text and "estimated" in text
    assert "3 reads of bank 0 of A, 2 ports" in text


def test_handles_of_loops() -> None:
    found = allo.estimate(scheduled())
    assert found.loop("i") is found.loop("kernel:S_i_0.i") is found.loop("kernel:i")
    with pytest.raises(KeyError, match=r"no loop 'j'; the loops are kernel:S_i_0\.i"):
        found.loop("j")


def test_a_module_is_estimated_too() -> None:
    s = scheduled()
    assert allo.estimate(s.ir) == allo.estimate(s)


def test_a_file_of_the_user() -> None:
    named, from_file = allo.estimate(scheduled()), allo.estimate(scheduled(), ROOT / "targets" / "u280.toml")
    assert named == from_file


def test_another_clock_needs_other_operators() -> None:
    slow, fast = (allo.estimate(scheduled(), frequency=mhz) for mhz in (200, 300))
    assert slow.cycles is not None and fast.cycles is not None and slow.cycles < fast.cycles


def test_a_clock_must_be_positive() -> None:
    with pytest.raises(allo.AlloError) as caught:
        allo.estimate(scheduled(), frequency=0)
    assert str(caught.value) == "the frequency must be a number of MHz above 0, got 0"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"frequency": "300"},
            "the frequency must be a number of MHz above 0, got '300'\n  hint: for example frequency=300",
        ),
        (
            {"trips": ["i"]},
            "trips must be a dict of numbers by names of loops, got ['i']\n  hint: for example trips={\"i\": 64}",
        ),
        (
            {"operators": "add"},
            "operators must be a dict of implementations by names of operators, got 'add'\n"
            '  hint: for example operators={"add": "fabric"}',
        ),
        (
            {"memory": {"A": 0}},
            "memory must be the name of a memory, or a dict of them by names of arguments, got {'A': 0}\n"
            '  hint: for example memory={"A": "HBM"}',
        ),
        (
            {"memory": "HBM", "in_place": "A"},
            "in_place must be a list of names of arguments, got 'A'\n  hint: for example in_place=[\"A\"]",
        ),
        (
            {"memory": "HBM", "word_bits": "512"},
            "word_bits must be a power of two from 8 on, got '512'\n  hint: for example word_bits=512",
        ),
        (
            {"rewrites": 3},
            'rewrites must be a list of names, got 3\n  hint: as rewrites=["allo-forward-stores"]',
        ),
    ],
)
def test_options_of_another_kind(given: dict[str, Any], message: str) -> None:
    with pytest.raises(allo.TargetError) as caught:
        allo.estimate(scheduled(), **given)
    assert str(caught.value) == message


def test_a_clock_that_the_device_cannot_reach() -> None:
    with pytest.raises(allo.AlloError) as caught:
        allo.estimate(scheduled(), "zynq7020", frequency=400)
    assert str(caught.value) == (
        "target 'zynq7020' reaches 388 MHz at most, got 400 MHz\n  hint: ask for a lower clock"
    )


def test_resources_of_arrays() -> None:
    def local(A: float32[1024], B: float32[1024]):
        tile: float32[1024] = 0.0
        few: float32[4] = 0.0
        for i in range(1024):
            tile[i] = A[i] + few[i % 4]
        for j in range(1024):
            B[j] = tile[1023 - j]

    s = allo.customize(local)
    assert allo.estimate(s).bram18 == 2  # 1024 words of 32 bits in blocks of 512 x 36
    s.partition("tile", dim=1, factor=4)
    assert allo.estimate(s).bram18 == 4
    s.bind("tile", allo.Memory(resource="URAM"))
    assert (allo.estimate(s).bram18, allo.estimate(s).uram) == (0, 4)


def test_functions_have_resources_of_their_own() -> None:
    """A callee is one instance for a caller that runs its calls in turn; what all take is the sum of all instances."""

    def scale(A: float32[64], B: float32[64]):
        for i in range(64):
            B[i] = A[i] * 2.0

    def turn(A: float32[64], B: float32[64]):
        T: float32[64]
        scale(A, T)
        scale(T, B)

    def both(A: float32[64], B: float32[64], C: float32[64], D: float32[64]):
        turn(A, B)
        scale(C, D)

    s = allo.customize(both)
    for turns in (True, False):
        found = allo.estimate(s)
        own = {function.name: function for function in found.functions}
        assert (own["scale"].instances, own["scale"].own.dsp, own["turn"].own.dsp) == (2 if turns else 3, 3, 0)
        assert own["scale"].own == own["scale"].resources and own["turn"].own.bram18 > 0
        assert sum((f.own.times(f.instances) for f in found.functions), Resources()) == found.kernel.resources
        *rows, total = str(found).split("without callees")[1].split("\n\n")[0].splitlines()[2:]
        assert [row.split()[0] for row in rows] == [f.name for f in found.functions]
        assert list(map(int, total.split()[-5:])) == list(astuple(found.kernel.resources))
        assert "<th>without callees</th>" in found.to_html()
        s.dataflow("turn")


def test_what_does_not_fit_is_said() -> None:
    def wide(A: float32[64], B: float32[64]):
        for i in range(64):
            B[i] = A[i] * A[i] + 1.0

    s = allo.customize(wide)
    s.unroll("i")
    for array in ("A", "B"):
        s.partition(array)
    assert allo.estimate(s, "zynq7020").notes == ("does not fit: 320 DSPs, zynq7020 has 220",)
    assert not allo.estimate(s, "u280").notes


def test_what_the_platform_of_a_card_takes_is_said() -> None:
    def wide(A: float32[1720], B: float32[1720]):
        for i in range(1720):
            B[i] = A[i] * A[i] + 1.0

    s = allo.customize(wide)
    s.unroll("i")
    for array in ("A", "B"):
        s.partition(array)
    notes = allo.estimate(s, "u280").notes
    assert notes == (
        "does not fit: 8,600 DSPs, u280 has 9,024, of which the platform of the card takes 534",
        "wide: 'A' has 1,720 banks, and the tool makes 1,024 of an array at most: partition it less",
        "wide: 'B' has 1,720 banks, and the tool makes 1,024 of an array at most: partition it less",
    )


def test_options_need_a_target() -> None:
    with pytest.raises(TypeError, match="takes frequency with a target only"):
        scheduled().report(frequency=200)


def test_adders_of_luts() -> None:
    plain, fabric = scheduled().report(target="u280"), scheduled().report(target="u280", operators={"add": "fabric"})
    assert (plain.dsp, fabric.dsp) == (2, 0)
    assert fabric.lut > plain.lut


def test_targets_that_are_no_fpga_are_refused() -> None:
    array = Target("array", "An array of tiles", "none", 1000, 0, ("invented",), {})
    with pytest.raises(TargetError, match="estimates are those of FPGAs, and target 'array' is none"):
        allo.estimate(scheduled(), array)
