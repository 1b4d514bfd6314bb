// Memory in look-up tables: one port writes, READS ports read, with READ_LATENCY registers behind (0: the same cycle).
// A read in the cycle of a write of its address gives what was there before. Port k is the k-th part of `raddr`, `rdata`.
// FILL: 0, nothing is known of what it holds at first; 1, each word is INIT; 2, INIT has all words, the first one lowest.
// (No `always_ff`, beside which there may be no `initial`.)
module allo_lutram #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READS = 1, parameter int READ_LATENCY = 0,
  parameter STYLE = "distributed", parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic we, input logic [AW-1:0] waddr, input logic [W-1:0] wdata,
  input logic ren, input logic [READS*AW-1:0] raddr, output logic [READS*W-1:0] rdata);
  (* ram_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT[k*W +: W];
  end
  always @(posedge clk) if (we) mem[waddr] <= wdata;
  for (genvar k = 0; k < READS; k++) begin : g_read
    allo_pipe #(W, READ_LATENCY) behind (.clk, .en(ren), .d(mem[raddr[k*AW +: AW]]), .q(rdata[k*W +: W]));
  end
endmodule
