"""The memory of two ports of ECP5's blocks beside that of the library, on a model of a block that answers nonsense
where the block says nothing."""

from __future__ import annotations

import pytest

from allo.backend.rtl.library import library_directory, library_files
from allo.backend.rtl.simulate import Simulation

NAME = "allo_ram_tdp"
PINS = [f"{name}{side}{k}" for side in "AB" for name, count in (("AD", 14), ("DI", 18)) for k in range(count)]
FOUND = [f"DO{side}{k}" for side in "AB" for k in range(18)]


def block() -> str:
    """A block as its data sheet has it: both ports read before they write; of the other's word they read nonsense."""
    inputs = ", ".join(f"input logic {name}" for name in PINS)
    control = ", ".join(
        f"input logic {name}{side}{k}" for side in "AB"
        for name, k in (("CLK", ""), ("CE", ""), ("OCE", ""), ("WE", ""), ("RST", ""), *(("CS", k) for k in "012"))
    )  # fmt: skip
    texts = ("REGMODE_A", "REGMODE_B", "RESETMODE", "CSDECODE_A", "CSDECODE_B", "WRITEMODE_A", "WRITEMODE_B")
    parameters = ", ".join(f'parameter {name} = ""' for name in texts)
    joined = {
        (name, side): "{" + ", ".join(f"{name}{side}{k}" for k in reversed(range(count))) + "}"
        for side in "AB" for name, count in (("AD", 14), ("DI", 18), ("DO", 18))
    }  # fmt: skip
    ports = "".join(
        f"""
  always_ff @(posedge CLK{me}) if (CE{me}) begin
    if (WE{me} && (DATA_WIDTH_{me} != 18 || at_{me}[1:0] == 3)) mem[at_{me} >> LOW] <= {joined["DI", me]} & MASK;
    read_{me} <= CE{you} && WE{you} && at_{you} == at_{me} ? ~mem[at_{me} >> LOW] : mem[at_{me} >> LOW];
  end
  wire [13:0] at_{me} = {joined["AD", me]};
  logic [17:0] read_{me};
  assign {joined["DO", me]} = read_{me} & MASK;"""
        for me, you in ("AB", "BA")
    )
    return f"""
module DP16KD #(parameter int DATA_WIDTH_A = 18, parameter int DATA_WIDTH_B = 18, {parameters}) (
  {control}, {inputs}, {", ".join(f"output logic {name}" for name in FOUND)});
  localparam int LOW = DATA_WIDTH_A == 18 ? 4 : DATA_WIDTH_A == 9 ? 3 : DATA_WIDTH_A == 4 ? 2
    : DATA_WIDTH_A == 2 ? 1 : 0;
  localparam logic [17:0] MASK = 18'((1 << DATA_WIDTH_A) - 1);
  logic [17:0] mem [0:16383];
{ports}
endmodule
"""


BENCH = """
module bench(input logic clk, input logic rst, input logic start, output logic done, output logic stuck);
  localparam int W = {W}, DEPTH = {DEPTH}, AW = $clog2(DEPTH);
  logic [31:0] tick, wrong, read;
  logic [127:0] noise;
  logic [AW-1:0] base;
  logic seen_a, seen_b;
  wire fills = tick < DEPTH; // first all words are written
  wire a_en = fills | noise[0] | noise[1], b_en = ~fills & (noise[2] | noise[3]);
  wire a_we = fills | noise[4], b_we = noise[5];
  wire [AW-1:0] far = AW'(noise[40:9]) % AW'(DEPTH - 1);
  wire [AW-1:0] a_addr = fills ? AW'(tick) : noise[6] ? base : far, b_addr = noise[7] ? base : noise[8] ? a_addr : far;
  wire [W-1:0] a_d = W'(noise[127:64]), b_d = W'(~noise[119:56]);
  logic [W-1:0] a_q, b_q, a_wanted, b_wanted;
  allo_ram_tdp #(.W(W), .DEPTH(DEPTH), .READ_LATENCY({LATENCY})) wanted (
    .clk, .a_en, .a_we, .a_addr, .a_d, .a_q(a_wanted), .b_en, .b_we, .b_addr, .b_d, .b_q(b_wanted));
  blocks #(.W(W), .DEPTH(DEPTH), .READ_LATENCY({LATENCY})) found (.*);
  assign stuck = 0;
  assign done = tick == DEPTH + 20000;
  always_ff @(posedge clk) begin
    tick <= rst ? 0 : tick + 1;
    noise <= rst ? 128'h9e3779b97f4a7c15f39cc0605cedc835
      : {noise[126:0], noise[127] ^ noise[125] ^ noise[100] ^ noise[98]}
      ^ {noise[63:0], 64'd0};
    if (noise[50:47] == 0) base <= far;
    if (tick > DEPTH + 4) begin
      wrong <= wrong + 32'(a_q != a_wanted) + 32'(b_q != b_wanted);
      read <= read + 32'(a_en & b_en & a_addr == b_addr);
    end else begin wrong <= 0; read <= 0; end
  end
endmodule
"""


def compared(width: int, depth: int, latency: int, fault: tuple[str, str] = ("", "")) -> tuple[int, int]:
    """Cycles in which the memories differ, and those in which both ports come to one word."""
    text = (library_directory() / "synthesise" / "ecp5" / f"{NAME}.sv").read_text()
    assert text.count(fault[0]) == 1 or not fault[0]
    files = library_files([NAME])
    files[f"{NAME}.sv"] = files[f"{NAME}.sv"].replace("ifdef ALLO_SIMULATION", "ifdef NEVER")
    text = text.partition("// A block of 18 Kb")[0]
    files["blocks.sv"] = text.replace(f"module {NAME} ", "module blocks ").replace(*fault)
    files["block.sv"] = block()
    numbers = {"{W}": str(width), "{DEPTH}": str(depth), "{LATENCY}": str(latency)}
    bench = BENCH
    for name, number in numbers.items():
        bench = bench.replace(name, number)
    shown = [("bench", "wrong"), ("bench", "read")]
    model = Simulation({**files, "bench.sv": bench}, "bench", visible=shown, random_state=2)
    assert model.run(limit=200_000).finished
    return model.number("wrong"), model.number("read")


MORE = ((8, 2048, 1), (18, 1500, 2), (3, 40_000, 1))
SHAPES = [(32, 256, 1), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in MORE)]


@pytest.mark.parametrize(("width", "depth", "latency"), SHAPES)
def test_the_same_words(width: int, depth: int, latency: int) -> None:
    wrong, together = compared(width, depth, latency)
    assert wrong == 0
    assert together > 1000


@pytest.mark.slow
@pytest.mark.parametrize(("was", "fault"), [
    ("a_other ? b_block[W-1:0] : a_block[W-1:0]", "a_block[W-1:0]"),
    ("a_we & ~(same & b_we)", "a_we"),
    ("a_has <= 1; a_kept <= a_read;", "a_has <= 0; a_kept <= a_read;"),
    ("same & a_we & ~b_we", "same & b_we"),
])  # fmt: skip
def test_faults_are_noticed(was: str, fault: str) -> None:
    assert compared(8, 64, 1, (was, fault))[0] > 0
