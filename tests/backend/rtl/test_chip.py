"""Kernels on a chip: the module for its pins, simulated with the host's side of the serial port."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl import RTLModule
from allo.backend.rtl.library import library_files
from allo.backend.rtl.simulate import Simulation
from allo.errors import DataflowError, RunTimeout, ToolError
from allo.ir.types import Int, Stateful, float32, float64, int8, int32
from allo.target import load_target

from . import test_flows as flows
from .simulated import assert_as_predicted, bits, copied

# The host's side of the port: it sends `word` and takes what comes back, a bit each 8 cycles.
PLAYER = """
module player(input logic clk, input logic rst, input logic start, output logic done, output logic stuck);
  logic [{N}-1:0] word, back, left;
  logic [31:0] tick;
  logic running, miso;
  wire [31:0] bits = tick >> 3;
  wire sends = running && bits < {N};
  {name} board (.clk, .sck(sends & tick[2]), .select_n(~sends), .mosi(left[{N}-1]), .miso);
  assign stuck = 0;
  assign done = running && bits == {N} + 3;
  always_ff @(posedge clk) begin
    running <= ~rst & (start | (running & ~done));
    tick <= start ? 0 : tick + 1;
    if (start) left <= word;
    else if (sends && tick[2:0] == 7) left <= left << 1;
    if (sends && tick[2:0] == 3) back <= {{back[{N}-2:0], miso}};
  end
endmodule
"""


class Chip:
    """A board module in simulation, beside a host: what `transfer` is to be."""

    def __init__(
        self, built: RTLModule, seed: int = 1, fault: tuple[str, str] = ("", ""), files: dict[str, str] | None = None
    ) -> None:
        numbers = {"{{": "{", "}}": "}", "{N}": str(built.design.board.form.bits), "{name}": built.design.board.name}
        text = PLAYER
        for name, number in numbers.items():
            text = text.replace(name, number)
        made = {**library_files(["allo_monitor"]), **built.chip_files} if files is None else files
        files = {**made, "player.sv": text}
        if fault[0]:
            assert any(fault[0] in text for text in files.values())
            files = {name: text.replace(*fault) for name, text in files.items()}
        self.simulation = Simulation(
            files, "player", visible=[("player", "word"), ("player", "back")], random_state=seed
        )

    def transfer(self, word: int, bits: int) -> int:
        place = self.simulation.view("word")
        raw = place.reshape(-1).view(np.uint8)
        raw[...] = np.frombuffer(word.to_bytes(raw.size, "little"), np.uint8)
        assert self.simulation.run(limit=10_000).failure is None
        return self.simulation.number("back")


def assert_on_chip(s: allo.Schedule, *arguments: Any, polls: int = 1000) -> RTLModule:
    """Twice a call, on the chip and on the CPU: the same bits."""
    built = s.build(target="rtl")
    on_chip, on_cpu = built.on_chip(Chip(built).transfer, polls=polls), s.build()
    for _ in range(2):
        mine, wanted = copied(arguments), copied(arguments)
        assert bits(on_chip(*mine)) == bits(on_cpu(*wanted))
        for found, one in zip(mine, wanted, strict=True):
            assert bits(found) == bits(one)
    return built


def gemm(A: int8[4, 4], B: int8[4, 4], C: int32[4, 4]):
    for i, j in allo.grid(4, 4):
        for k in allo.reduction(4):
            C[i, j] += A[i, k] * B[k, j]


def test_memories_are_filled_and_read() -> None:
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.pipeline("j")
    draw = np.random.default_rng(0)
    A, B = (draw.integers(-128, 128, (4, 4)).astype(np.int8) for _ in range(2))
    assert_on_chip(s, A, B, draw.integers(-1000, 1000, (4, 4)).astype(np.int32))


def mixed_board(x: int32) -> int32:
    return x + 1


def mixed(x: float32[6], mosi: float64, host_data: Int(70)[3]) -> (float64, int32):
    calls: Stateful[int32] = 5
    row: Stateful[float32[6]] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    total: float64 = mosi
    for i in range(6):
        row[i] = row[i] + x[i]
        total += row[i]
    for i in range(3):
        host_data[i] = host_data[i] * 3 - 1
    calls = mixed_board(calls)
    return total, calls


def test_numbers_states_and_wide_words() -> None:
    s = allo.customize(mixed)
    s.partition("x", factor=2)
    s.partition("host_data")
    built = s.build(target="rtl")
    on_chip, on_cpu = built.on_chip(Chip(built).transfer), s.build()
    x, k = np.arange(6, dtype=np.float32), 0.25
    mine, wanted = ([-1, 2**68, 5] for _ in range(2))
    mine, wanted = np.array(mine, object), np.array(wanted, object)
    for calls in (6, 7):
        found, expected = on_chip(x, k, mine), on_cpu(x, k, wanted)
        assert found == expected and found[1] == calls
        assert mine.tolist() == wanted.tolist()
    on_chip.reset()
    assert on_chip(x, k, mine)[1] == 6


def test_what_hangs_is_told_and_the_next_call_begins_anew() -> None:
    s = df.customize(flows.crossed)
    built = s.build(target="rtl")
    on_chip = built.on_chip(Chip(built).transfer)
    few = np.minimum(flows.NUMBERS, 4)
    with pytest.raises(DataflowError) as caught:
        on_chip(flows.NUMBERS, flows.NOTHING.copy())
    assert str(caught.value) == (
        "'crossed' hangs on the chip: all that runs waits\n  hint: a call of the simulation says who waits where"
    )
    found, wanted = flows.NOTHING.copy(), flows.NOTHING.copy()
    on_chip(few, found)
    s.build()(few, wanted)
    np.testing.assert_array_equal(found, wanted)


def forever(x: int32[1]):
    while x[0] > 0:
        x[0] = x[0] * 1


def test_what_takes_too_long_is_told() -> None:
    built = allo.customize(forever).build(target="rtl")
    with pytest.raises(RunTimeout) as caught:
        built.on_chip(lambda word, bits: 1, polls=3)(np.ones(1, np.int32))  # it always runs
    assert str(caught.value) == "'forever' still runs on the chip\n  hint: give on_chip a greater polls="


def test_answers_that_no_port_gives() -> None:
    built = allo.customize(forever).build(target="rtl")
    bits = built.design.board.form.bits
    with pytest.raises(TypeError) as caught:
        built.on_chip(lambda word, bits: None)(np.ones(1, np.int32))
    assert str(caught.value) == f"a transfer of {bits} bits must give a number of as many bits, got None"
    with pytest.raises(ToolError) as told:
        built.on_chip(lambda word, bits: (1 << bits) - 1)(np.ones(1, np.int32))
    assert str(told.value) == "what is at the serial port answers 0xffffffff, which 'forever' does not"


@pytest.mark.slow
@pytest.mark.parametrize(("was", "fault"), [
    ("{word[N-2:0], bits[1]}", "{word[N-2:0], bits[1] & ~word[0]}"),
    ("word[W-1:0] <= answer", "word[W-1:0] <= ~answer"),
    ("host_running && !done", "host_running"),
    ("host_free ?", "1'b1 ?"),
])  # fmt: skip
def test_a_fault_in_the_port_is_noticed(was: str, fault: str) -> None:
    built = allo.customize(gemm).build(target="rtl")
    C = np.zeros((4, 4), np.int32)
    try:
        chip = Chip(built, fault=(was, fault))
        built.on_chip(chip.transfer, polls=30)(np.ones((4, 4), np.int8), np.ones((4, 4), np.int8), C)
    except (RunTimeout, DataflowError, ToolError):
        return
    assert not (C == 4).all()


def cubes(x: int32[16], y: int32[16]):
    for i in range(16):
        y[i] = (x[i] + 5) * x[i] - (x[i] >> 2) + (x[i] & 7)


def test_a_schedule_for_the_delays_of_the_chip() -> None:
    s = allo.customize(cubes)
    s.pipeline("i")
    found = assert_as_predicted(s, np.arange(-8, 8, dtype=np.int32), np.zeros(16, np.int32), device="ecp5")
    fast = s.build(target="rtl", device=load_target("ecp5").at(250))
    assert found.predicted_cycles is not None and fast.predicted_cycles is not None
    assert fast.predicted_cycles > found.predicted_cycles


def test_narrow_results_keep_their_signs() -> None:
    int7, int33 = Int(7), Int(33)

    def negated(a: int7, b: int33) -> (int7, int33):
        c: int7 = -a
        d: int33 = -b
        return c, d

    built = allo.customize(negated).build(target="rtl")
    expected = allo.interpret(negated)(3, 1 << 31)
    assert expected == (-3, -(1 << 31))
    assert built(3, 1 << 31) == built.on_chip(Chip(built).transfer)(3, 1 << 31) == expected
