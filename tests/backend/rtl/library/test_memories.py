"""Memories and FIFOs of the library against models of them in Python, with random accesses and stalls."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from allo.backend.rtl.library import library_files
from allo.backend.rtl.simulate import Simulation

STEPS = 2_000
DEPTHS = (1, 3, 8)

# A script of inputs goes in, a cycle an entry, and what comes out is kept: so that one simulation does all cycles.
SCRIPT = """
module script #(parameter int N = 2000) (
  input logic clk, input logic rst, input logic start, output logic done, output logic stuck);
  assign stuck = 0;
  logic [31:0] i;
  logic [63:0] inputs [0:N-1];
  logic [63:0] outputs [0:N-1];
  wire [63:0] in = i < N ? inputs[i] : '0;
  wire [63:0] out;
  always_ff @(posedge clk) if (rst) begin i <= 0; done <= 0; end else begin
    i <= i + 1;
    if (i < N) outputs[i] <= out;
    if (i == N) done <= 1;
  end
  INSTANCE
endmodule
"""


def ran(module: str, instance: str, inputs: np.ndarray, contents: str = "") -> tuple[np.ndarray, Simulation]:
    files = {**library_files([module, "allo_pipe"]), "script.sv": SCRIPT.replace("INSTANCE", instance)}
    shown = [("script", "inputs"), ("script", "outputs")]
    memory = "allo_fifo" if module == "allo_settle" else module
    if module == "allo_fifo":
        shown += [("allo_fifo", "most")]
    model = Simulation(files, "script", visible=[*shown, (memory, "mem")], random_state=5)
    if contents:
        model.load(contents, np.arange(model.view(contents).size) * 3 + 1)
    model.load("inputs", inputs)
    outcome = model.run(STEPS + 10)
    assert outcome.finished, outcome
    return model.read("outputs"), model


@pytest.mark.parametrize("depth", DEPTHS)
def test_fifo(depth: int) -> None:
    """Order, flags, the count and its greatest value, at each depth, full and empty as often as it goes."""
    random = np.random.default_rng(depth)
    inputs, expected, queue, most = [], [], deque[int](), 0
    for step in range(STEPS):
        eager = (step // 200) % 3  # fills up, runs empty, does both
        put = len(queue) < depth and random.random() < (0.9, 0.3, 0.7)[eager]
        get = bool(queue) and random.random() < (0.3, 0.9, 0.7)[eager]
        value = int(random.integers(0, 1 << 20))
        front = queue[0] if queue else 0
        expected.append(front | (not queue) << 20 | (len(queue) == depth) << 21 | len(queue) << 22)
        inputs.append(value | put << 20 | get << 21)
        if get:
            queue.popleft()
        if put:
            queue.append(value)
        most = max(most, len(queue))
    instance = f"""logic [19:0] front; logic empty, full; logic [{depth.bit_length() - 1}:0] count, most;
  allo_fifo #(.W(20), .DEPTH({depth})) fifo (.clk, .rst, .put(in[20]), .put_data(in[19:0]), .full, .get(in[21]),
    .get_data(front), .empty, .count, .most);
  assign out = 64'({{count, full, empty, empty ? 20'd0 : front}});"""
    found, model = ran("allo_fifo", instance, np.array(inputs, np.uint64))
    assert (found == np.array(expected, np.uint64)).all()
    assert model.number("fifo.most") == most


@pytest.mark.parametrize("latency", [1, 3])
def test_one_port(latency: int) -> None:
    """Reads what was there before its own write, `latency` enabled cycles later."""
    random = np.random.default_rng(latency)
    memory, line = [3 * k + 1 for k in range(20)], deque[int | None]([None] * latency)
    inputs, expected = [], []
    for _ in range(STEPS):
        address, value = int(random.integers(0, 20)), int(random.integers(0, 1 << 13))
        enabled, writes = random.random() < 0.8, random.random() < 0.5
        inputs.append(value | address << 13 | writes << 18 | enabled << 19)
        expected.append(line[0])
        if enabled:
            line.popleft()
            line.append(memory[address])
            if writes:
                memory[address] = value
    instance = f"""allo_ram_1rw #(.W(13), .DEPTH(20), .READ_LATENCY({latency})) ram (
    .clk, .en(in[19]), .we(in[18]), .addr(in[17:13]), .d(in[12:0]), .q(out[12:0]));
  assign out[63:13] = 0;"""
    found, model = ran("allo_ram_1rw", instance, np.array(inputs, np.uint64), "ram.mem")
    assert [(e, int(f)) for e, f in zip(expected, found, strict=True) if e is not None and e != f] == []
    assert model.read("ram.mem").tolist() == memory


@pytest.mark.parametrize(
    ("module", "latency"), [("allo_ram_sdp", 1), ("allo_ram_sdp", 2), ("allo_lutram", 0), ("allo_regs", 1)]
)
def test_a_port_that_writes_and_one_that_reads(module: str, latency: int) -> None:
    random = np.random.default_rng(latency)
    memory, line = [3 * k + 1 for k in range(20)], deque[int | None]([None] * latency)
    inputs, expected = [], []
    for _ in range(STEPS):
        waddr, raddr = (int(random.integers(0, 20)) for _ in "wr")
        value, writes, reads = int(random.integers(0, 1 << 13)), random.random() < 0.5, random.random() < 0.8
        inputs.append(value | waddr << 13 | writes << 18 | reads << 19 | raddr << 20)
        expected.append(line[0] if latency else memory[raddr])
        if reads and latency:
            line.popleft()
            line.append(memory[raddr])
        if writes:
            memory[waddr] = value
    instance = f"""{module} #(.W(13), .DEPTH(20), .READ_LATENCY({latency})) ram (.clk, .we(in[18]),
    .waddr(in[17:13]), .wdata(in[12:0]), .ren(in[19]), .raddr(in[24:20]), .rdata(out[12:0]));
  assign out[63:13] = 0;"""
    found, model = ran(module, instance, np.array(inputs, np.uint64), "ram.mem")
    assert [(e, int(f)) for e, f in zip(expected, found, strict=True) if e is not None and e != f] == []
    assert model.read("ram.mem").tolist() == memory


def test_two_ports_that_read_and_write() -> None:
    random = np.random.default_rng(1)
    memory, last = [3 * k + 1 for k in range(16)], [0, 0]
    inputs, expected = [], []
    for step in range(STEPS):
        ports = [(int(random.integers(0, 16)), int(random.integers(0, 256)), random.random() < 0.8 or step == 0,
                  random.random() < 0.5) for _ in "ab"]  # fmt: skip
        if ports[0][0] == ports[1][0]:
            ports[0] = (*ports[0][:3], False)  # two writes of one address are reported
        expected.append(None if step == 0 else last[0] | last[1] << 8)
        inputs.append(sum((a | v << 4 | e << 12 | w << 13) << 16 * k for k, (a, v, e, w) in enumerate(ports)))
        last = [memory[a] if e else last[k] for k, (a, _, e, _) in enumerate(ports)]
        for a, v, e, w in ports:
            if e and w:
                memory[a] = v
    instance = """allo_ram_tdp #(.W(8), .DEPTH(16)) ram (.clk,
    .a_en(in[12]), .a_we(in[13]), .a_addr(in[3:0]), .a_d(in[11:4]), .a_q(out[7:0]),
    .b_en(in[28]), .b_we(in[29]), .b_addr(in[19:16]), .b_d(in[27:20]), .b_q(out[15:8]));
  assign out[63:16] = 0;"""
    found, model = ran("allo_ram_tdp", instance, np.array(inputs, np.uint64), "ram.mem")
    assert [(e, int(f)) for e, f in zip(expected, found, strict=True) if e is not None and e != f] == []
    assert model.read("ram.mem").tolist() == memory


def test_constant_memory_and_registers_of_several_ports() -> None:
    """Of writes of one address the last port's stays; a ROM has the contents that were loaded."""
    inputs = np.arange(STEPS, dtype=np.uint64) % 7
    instance = """allo_rom #(.W(9), .DEPTH(7), .READS(2), .READ_LATENCY(1)) rom (
    .clk, .ren(1'b1), .raddr({3'd6 - in[2:0], in[2:0]}), .rdata(out[17:0]));
  allo_regs #(.W(4), .DEPTH(2), .WRITES(2), .READS(1)) regs (.clk, .we(2'b11), .waddr(2'b00),
    .wdata({~in[3:0], in[3:0]}), .ren(1'b1), .raddr(1'b0), .rdata(out[21:18]));
  assign out[63:22] = 0;"""
    regs = library_files(["allo_regs"])["allo_regs.sv"]
    found, _ = ran("allo_rom", instance + "\nendmodule\n" + regs.replace("endmodule", ""), inputs, "rom.mem")
    for step in range(1, STEPS):
        before = int(inputs[step - 1])
        expected = (3 * before + 1) | (3 * (6 - before) + 1) << 9 | (~before & 15) << 18
        assert int(found[step]) == expected, step


@pytest.mark.parametrize(("latency", "interval"), [(1, 1), (3, 1), (5, 2)])
def test_what_settles(latency: int, interval: int) -> None:
    """Results of a unit that never stands still, for iterations that do: each gets its own, whenever it comes."""
    random = np.random.default_rng(latency)
    depth = latency // interval + 1
    places: list[tuple[int, int]] = []  # iterations on their way: how far they have come, and their value
    inputs, expected, since = [], [], interval
    for _ in range(STEPS):
        stands = random.random() < 0.4
        oldest = places[0] if places else (0, 0)
        arrived = oldest[0] == latency
        leaves = arrived and random.random() < 0.6
        held = arrived and not leaves
        value = int(random.integers(0, 1 << 20))
        issued = not stands and not held and since >= interval
        inputs.append(value | int(issued) << 20 | int(leaves) << 21)
        expected.append(oldest[1] if arrived else 0)
        places = [(far if held else far + 1, own) for far, own in (places[1:] if leaves else places)]
        places += [(1, value)] if issued else []
        since = 1 if issued else since + (not held)
    shown = np.array([bool(value) for value in expected])
    instance = f"""logic [19:0] d, y;
  allo_pipe #(.W(20), .N({latency})) unit (.clk, .en(1'b1), .d(in[19:0]), .q(d));
  allo_settle #(.W(20), .LAT({latency}), .DEPTH({depth})) settle (.clk, .rst, .issued(in[20]), .d, .take(in[21]), .y);
  assign out = 64'(y);"""
    found, _ = ran("allo_settle", instance, np.array(inputs, np.uint64))
    assert (found[shown] == np.array(expected, np.uint64)[shown]).all()
