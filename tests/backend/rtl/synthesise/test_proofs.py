"""Proofs about modules of the library: induction over their invariants, and gates that are equal to their text."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.backend.rtl.library import library_directory, library_files
from allo.backend.rtl.synthesise.yosys import is_available, reading, run_yosys
from allo.errors import ToolError

pytestmark = pytest.mark.skipif(not is_available(), reason="needs Yosys: pip install allo[synth]")

FIFO = "allo_fifo.sv"
FAULTS = {
    "off by one": ("full = count == ALL", "full = count == CW'(DEPTH - 1)"),
    "puts when full": ("puts = put & ~full", "puts = put"),
    "gets when empty": ("gets = get & ~empty", "gets = get"),
    "wraps late": ("tail <= tail == LAST ? '0", "tail <= tail > LAST ? '0"),
    "reads another": ("get_data = mem[head]", "get_data = mem[tail]"),
    "last in, first out": ("if (puts) mem[tail] <= put_data", "if (puts) mem[head] <= put_data"),
    "forgets the most": ("if (next > most) most <= next", "if (puts & ~gets) most <= next"),
}
INDUCTION = (
    "prep -top allo_fifo", "setundef -undriven -anyseq", "async2sync", "chformal -lower", "memory_map", "opt -full",
    "select -assert-count 7 t:$assert",
    "sat -tempinduct -prove-asserts -verify -set-assumes -seq 1 -maxsteps 2 allo_fifo",
)  # fmt: skip


def proved(text: str, folder: Path, width: int, depth: int) -> str:
    (folder / FIFO).write_text(text)
    read = reading([FIFO], "allo_fifo", ["ALLO_PROOF"], W=width, DEPTH=depth)
    return run_yosys([read, *INDUCTION], folder, "the proof")


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (8, 2), (5, 3), (8, 7), (32, 16)])
def test_a_fifo_keeps_order_and_tells_its_state(width: int, depth: int, tmp_path: Path) -> None:
    assert "Induction step proven: SUCCESS!" in proved(library_files(["allo_fifo"])[FIFO], tmp_path, width, depth)


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_fifo_has_no_proof(name: str, tmp_path: Path) -> None:
    text, (right, wrong) = library_files(["allo_fifo"])[FIFO], FAULTS[name]
    assert text.count(right) == 1
    with pytest.raises(ToolError, match="Called with -verify and proof did fail"):
        proved(text.replace(right, wrong), tmp_path, 4, 3)


BURSTS = "allo_axi_bursts.sv"
BURST_FAULTS = {
    "across 4 KiB": ("page > 256 ? 9'd256 : 9'(page)", "9'd256"),
    "changes an address": ("active && (!valid || ready)", "active"),
    "withdraws an address": ("else if (ready) valid <= 0", "else valid <= 0"),
    "one burst too many": ("left == 32'(count)", "left < 32'(count)"),
    "too many open": ("open != $unsigned(CW'(OUTSTANDING))", "1'b1"),
}
BURST_INDUCTION = [step.replace("allo_fifo", "allo_axi_bursts").replace("7 t:", "4 t:") for step in INDUCTION]


def proved_bursts(text: str, folder: Path, width: int) -> str:
    (folder / BURSTS).write_text(text)
    read = reading([BURSTS], "allo_axi_bursts", ["ALLO_PROOF"], W=width, A=16, OUTSTANDING=4)
    return run_yosys([read, *BURST_INDUCTION], folder, "the proof")


@pytest.mark.parametrize("width", [32, 512])
def test_addresses_of_bursts_stay_and_cross_no_page(width: int, tmp_path: Path) -> None:
    text = (library_directory() / BURSTS).read_text()
    assert "Induction step proven: SUCCESS!" in proved_bursts(text, tmp_path, width)


@pytest.mark.parametrize("name", BURST_FAULTS)
def test_faulty_bursts_have_no_proof(name: str, tmp_path: Path) -> None:
    text, (right, wrong) = (library_directory() / BURSTS).read_text(), BURST_FAULTS[name]
    assert text.count(right) == 1
    with pytest.raises(ToolError, match="Called with -verify and proof did fail"):
        proved_bursts(text.replace(right, wrong), tmp_path, 32)


def equal_to_its_gates(module: str, options: dict[str, int], synthesis: str, folder: Path) -> str:
    files = library_files([module])
    for name, text in files.items():
        (folder / name).write_text(text)
    commands = [reading(list(files), module, **options), "hierarchy -top " + module, "proc", "flatten", "memory"]
    return run_yosys([*commands, f"equiv_opt -assert {synthesis}"], folder, f"the gates of {module}")


def test_gates_of_a_fifo(tmp_path: Path) -> None:
    synthesis = "-map +/ecp5/cells_sim.v synth_ecp5 -top allo_fifo"
    assert "successfully proven" in equal_to_its_gates("allo_fifo", {"W": 4, "DEPTH": 4}, synthesis, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("latency", [0, 2])
def test_gates_of_an_adder(latency: int, tmp_path: Path) -> None:
    form = {"EXP": 5, "MAN": 10, "LAT": latency}
    synthesis = "-map +/xilinx/cells_sim.v synth_xilinx -family xcup -nosrl -top allo_fadd"
    assert "successfully proven" in equal_to_its_gates("allo_fadd", form, synthesis, tmp_path)
