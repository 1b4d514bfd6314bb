// GRID delay lines of N registers; N = 0 is a wire.
module allo_pipe_grid #(
  parameter int GRID = 8, parameter int W = 32, parameter int N = 1, localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic en [0:SIZE-1], input logic [W-1:0] d [0:SIZE-1], output logic [W-1:0] q [0:SIZE-1]);
  if (N == 0) begin : g_wire
    always_comb for (int p = 0; p < GRID; p++) q[p] = d[p];
  end else if (N == 1) begin : g_register
    logic [W-1:0] q_next [0:SIZE-1];
    always_comb for (int p = 0; p < GRID; p++) q_next[p] = en[p] ? d[p] : q[p];
    always_ff @(posedge clk) q <= q_next;
  end else begin : g_line
    logic [N*W-1:0] stages [0:SIZE-1], stages_next [0:SIZE-1];
    always_comb
      for (int p = 0; p < GRID; p++) stages_next[p] = en[p] ? {stages[p][(N-1)*W-1:0], d[p]} : stages[p];
    always_ff @(posedge clk) stages <= stages_next;
    always_comb for (int p = 0; p < GRID; p++) q[p] = stages[p][N*W-1 -: W];
  end
endmodule
