// GRID memories with one port that reads and writes.
module allo_ram_1rw_grid #(
  parameter int GRID = 8, parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1,
  parameter STYLE = "auto", parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1,
  localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic en [0:SIZE-1], input logic we [0:SIZE-1], input logic [AW-1:0] addr [0:SIZE-1],
  input logic [W-1:0] d [0:SIZE-1], output logic [W-1:0] q [0:SIZE-1]);
  logic [W-1:0] mem [0:SIZE-1][0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int p = 0; p < GRID; p++) for (int k = 0; k < DEPTH; k++) mem[p][k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int p = 0; p < GRID; p++) for (int k = 0; k < DEPTH; k++) mem[p][k] = INIT[k*W +: W];
  end
  logic [W-1:0] read [0:SIZE-1];
  always @(posedge clk)
    for (int p = 0; p < GRID; p++)
      if (en[p]) begin
        if (we[p]) mem[p][addr[p]] <= d[p];
        read[p] <= mem[p][addr[p]];
      end
  allo_pipe_grid #(GRID, W, READ_LATENCY - 1) behind (.clk, .en, .d(read), .q);
endmodule
