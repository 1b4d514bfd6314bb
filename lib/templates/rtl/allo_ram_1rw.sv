// Memory with one port that reads and writes. While it writes, it reads what was there before.
// READ_LATENCY counts enabled cycles from the address to `q`: the memory's own register and READ_LATENCY - 1 behind it.
// FILL: 0, nothing is known of what it holds at first; 1, each word is INIT; 2, INIT has all words, the first one lowest.
// (No `always_ff`, beside which there may be no `initial`.)
module allo_ram_1rw #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1, parameter STYLE = "auto",
  parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic en, input logic we, input logic [AW-1:0] addr, input logic [W-1:0] d,
  output logic [W-1:0] q);
  (* ram_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT[k*W +: W];
  end
  logic [W-1:0] read;
  always @(posedge clk) if (en) begin
    if (we) mem[addr] <= d;
    read <= mem[addr];
  end
  allo_pipe #(W, READ_LATENCY - 1) behind (.clk, .en, .d(read), .q);
endmodule
