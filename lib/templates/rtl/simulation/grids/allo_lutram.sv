// GRID memories in look-up tables.
module allo_lutram_grid #(
  parameter int GRID = 8, parameter int W = 32, parameter int DEPTH = 64, parameter int READS = 1,
  parameter int READ_LATENCY = 0, parameter STYLE = "distributed", parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1,
  localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic we [0:SIZE-1], input logic [AW-1:0] waddr [0:SIZE-1],
  input logic [W-1:0] wdata [0:SIZE-1], input logic ren [0:SIZE-1], input logic [READS*AW-1:0] raddr [0:SIZE-1],
  output logic [READS*W-1:0] rdata [0:SIZE-1]);
  logic [W-1:0] mem [0:SIZE-1][0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int p = 0; p < GRID; p++) for (int k = 0; k < DEPTH; k++) mem[p][k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int p = 0; p < GRID; p++) for (int k = 0; k < DEPTH; k++) mem[p][k] = INIT[k*W +: W];
  end
  logic [READS*W-1:0] read [0:SIZE-1];
  always @(posedge clk) for (int p = 0; p < GRID; p++) if (we[p]) mem[p][waddr[p]] <= wdata[p];
  always_comb
    for (int p = 0; p < GRID; p++)
      for (int k = 0; k < READS; k++) read[p][k*W +: W] = mem[p][raddr[p][k*AW +: AW]];
  allo_pipe_grid #(GRID, READS*W, READ_LATENCY) behind (.clk, .en(ren), .d(read), .q(rdata));
endmodule
