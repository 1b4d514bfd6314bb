// GRID memories with two ports that read and write.
module allo_ram_tdp_grid #(
  parameter int GRID = 8, parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1,
  parameter STYLE = "auto", parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1,
  localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk,
  input logic a_en [0:SIZE-1], input logic a_we [0:SIZE-1], input logic [AW-1:0] a_addr [0:SIZE-1],
  input logic [W-1:0] a_d [0:SIZE-1], output logic [W-1:0] a_q [0:SIZE-1],
  input logic b_en [0:SIZE-1], input logic b_we [0:SIZE-1], input logic [AW-1:0] b_addr [0:SIZE-1],
  input logic [W-1:0] b_d [0:SIZE-1], output logic [W-1:0] b_q [0:SIZE-1]);
  logic [W-1:0] mem [0:SIZE-1][0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int p = 0; p < GRID; p++) for (int k = 0; k < DEPTH; k++) mem[p][k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int p = 0; p < GRID; p++) for (int k = 0; k < DEPTH; k++) mem[p][k] = INIT[k*W +: W];
  end
  logic [W-1:0] a_read [0:SIZE-1], b_read [0:SIZE-1];
  always @(posedge clk)
    for (int p = 0; p < GRID; p++) begin
      if (a_en[p]) begin
        if (a_we[p]) mem[p][a_addr[p]] <= a_d[p];
        a_read[p] <= mem[p][a_addr[p]];
      end
      if (b_en[p]) begin
        if (b_we[p]) mem[p][b_addr[p]] <= b_d[p];
        b_read[p] <= mem[p][b_addr[p]];
      end
      assert (!(a_en[p] && a_we[p] && b_en[p] && b_we[p] && a_addr[p] == b_addr[p]))
        else $error("two writes of one address");
    end
  allo_pipe_grid #(GRID, W, READ_LATENCY - 1) a_behind (.clk, .en(a_en), .d(a_read), .q(a_q));
  allo_pipe_grid #(GRID, W, READ_LATENCY - 1) b_behind (.clk, .en(b_en), .d(b_read), .q(b_q));
endmodule
