"""Integer units of the library against the CPU, and against Python beyond 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

from allo.backend.rtl.library import library_files
from allo.backend.rtl.simulate import Simulation
from tests.backend.rtl.library import reference
from tests.backend.rtl.library.bench import Unit, Words, results
from tests.backend.rtl.library.vectors import integer_pairs

TYPES = [(8, True), (13, True), (32, True), (32, False), (64, True), (64, False)]


def units_of(width: int, signed: bool, number: int) -> list[Unit]:
    name = f"{'i' if signed else 'u'}{width}"
    form = {"W": width, "SIGNED": int(signed)}
    units = [
        Unit(f"{name}_{output}_{rounding}_{latency}", "allo_divmod", name,
             {**form, "ROUND": rounding, "LAT": latency}, output)
        for rounding, latency in ((0, (0, 3, width, width + 5)[number % 4]), (1, number), (2, number + 1))
        for output in ("quotient", "remainder")
    ]  # fmt: skip
    units += [
        Unit(f"{name}_shift_{kind}", "allo_shift", name,
             {"W": width, "WB": width, "KIND": kind, "AMOUNT_SIGNED": int(signed), "LAT": number % 3})
        for kind in (0, 2 if signed else 1)
    ]  # fmt: skip
    product = {"WA": width, "WB": width, "WO": min(2 * width, 64), "SIGNED": int(signed), "LAT": number}
    return [*units, Unit(f"{name}_mul", "allo_mul", name, product)]


def expected_of(unit: Unit, a: Words, b: Words, width: int, signed: bool) -> Words:
    x, y = (reference.integers(side, width, signed) for side in (a, b))
    scalar, kind = reference.integer(width, signed)
    match unit.name.split("_")[1:]:
        case ["quotient" | "remainder" as output, rounding, _]:
            div, floor, mod = reference.ran(reference.division, [scalar], [x, y], [kind] * 3)
            with np.errstate(over="ignore"):
                quotient = (div, floor, np.where(y == 0, x, floor + (mod != 0)).astype(kind))[int(rounding)]
                found = quotient if output == "quotient" else np.where(y == 0, 0, x - quotient * y).astype(kind)
            if output == "remainder" and rounding == "1":
                assert (reference.last_bits(found - mod, width) == 0).all()  # as `%` of kernels
        case ["shift", left]:
            shifted = reference.ran(reference.shifts, [scalar, scalar], [x, y], [kind] * 2)
            found = shifted[0 if left == "0" else 1]
        case _:
            with np.errstate(over="ignore"):
                found = x.astype(np.int64 if signed else np.uint64) * y
    return reference.last_bits(found, min(2 * width, 64) if unit.name.endswith("mul") else width)


@pytest.mark.parametrize(
    ("fast", "types", "count"),
    [
        pytest.param(False, TYPES[1:2], 20_000, id="synthesizable"),
        pytest.param(True, TYPES, 20_000, id="fast"),
        pytest.param(False, TYPES, 1 << 20, id="all", marks=pytest.mark.exhaustive),
    ],
)
def test_integers(fast: bool, types: list[tuple[int, bool]], count: int) -> None:
    groups = [(units_of(*kind, number), *kind) for number, kind in enumerate(types)]
    vectors = {units[0].vectors: integer_pairs(width, count, 5) for units, width, _ in groups}
    found = results([unit for units, _, _ in groups for unit in units], vectors, fast=fast)
    for units, width, signed in groups:
        for unit in units:
            a, b = vectors[unit.vectors]
            expected = expected_of(unit, a, b, width, signed)
            wrong = np.flatnonzero(found[unit.name] != expected)
            shown = [f"{a[k]:x} {b[k]:x} -> {found[unit.name][k]:x}, not {expected[k]:x}" for k in wrong[:5]]
            assert not shown, f"{unit.name}: {len(wrong)}: {'; '.join(shown)}"


WIDE = """
module wide #(parameter int W = 200) (
  input logic clk, input logic rst, input logic start, output logic done, output logic stuck,
  input logic [W-1:0] a, input logic [W-1:0] b,
  output logic [2*W-1:0] product, output logic [W-1:0] quotient, output logic [W-1:0] remainder,
  output logic [W-1:0] left);
  assign stuck = 0;
  allo_mul #(.WA(W), .WB(W), .WO(2 * W), .LAT(2)) mul (.clk, .en(1'b1), .a, .b, .y(product));
  allo_divmod #(.W(W), .ROUND(1), .LAT(7)) div (.clk, .en(1'b1), .a, .b, .quotient, .remainder);
  allo_shift #(.W(W), .WB(W)) shift (.clk, .en(1'b1), .a, .b(b >> (W - 8)), .y(left));
  logic [3:0] n;
  always_ff @(posedge clk) if (rst || start) n <= 0; else n <= n + 1;
  assign done = n == 9;
endmodule
"""


@pytest.mark.parametrize(
    ("fast", "width"),
    [pytest.param(False, 72, id="synthesizable", marks=pytest.mark.slow), pytest.param(True, 200, id="fast")],
)
def test_wide_integers(fast: bool, width: int) -> None:
    random = np.random.default_rng(9)
    ports = ("a", "b", "product", "quotient", "remainder", "left")
    text = WIDE.replace("200", str(width))
    files = {**library_files(["allo_mul", "allo_divmod", "allo_shift"], fast=fast), "wide.sv": text}
    model = Simulation(files, "wide", visible=[("wide", port) for port in ports])
    mask = (1 << width) - 1
    for _ in range(200):
        a, b = (int.from_bytes(random.bytes(width // 8), "little", signed=True) for _ in "ab")
        b >>= int(random.integers(0, width - 1))
        for name, value in (("a", a), ("b", b)):
            packed = (value & mask).to_bytes(4 * -(-width // 32), "little")
            model.load(name, np.frombuffer(packed, np.uint32))
        assert model.run(20).finished
        assert model.number("product") == a * b & (1 << 2 * width) - 1
        assert model.number("quotient") == (a // b if b else a) & mask
        assert model.number("remainder") == (a % b if b else 0) & mask
        assert model.number("left") == a << ((b & mask) >> width - 8) & mask
