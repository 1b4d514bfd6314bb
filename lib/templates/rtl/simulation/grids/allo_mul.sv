// GRID products of two integers in WO bits.
module allo_mul_grid #(
  parameter int GRID = 8, parameter int WA = 32, parameter int WB = 32, parameter int WO = 32, parameter bit SIGNED = 1,
  parameter int LAT = 3, localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic en [0:SIZE-1], input logic [WA-1:0] a [0:SIZE-1], input logic [WB-1:0] b [0:SIZE-1],
  output logic [WO-1:0] y [0:SIZE-1]);
  localparam int WP = WA + WB;
  localparam int INPUT = LAT >= 2 ? 1 : 0;
  logic [WA-1:0] x [0:SIZE-1];
  logic [WB-1:0] z [0:SIZE-1];
  logic [WP-1:0] p [0:SIZE-1], q [0:SIZE-1];
  allo_pipe_grid #(GRID, WA, INPUT) before_a (.clk, .en, .d(a), .q(x));
  allo_pipe_grid #(GRID, WB, INPUT) before_b (.clk, .en, .d(b), .q(z));
  if (SIGNED) begin : g_signed
    always_comb for (int k = 0; k < GRID; k++) p[k] = WP'($signed(x[k])) * WP'($signed(z[k]));
    always_comb for (int k = 0; k < GRID; k++) y[k] = WO'($signed(q[k]));
  end else begin : g_unsigned
    always_comb for (int k = 0; k < GRID; k++) p[k] = WP'(x[k]) * WP'(z[k]);
    always_comb for (int k = 0; k < GRID; k++) y[k] = WO'(q[k]);
  end
  allo_pipe_grid #(GRID, WP, LAT - INPUT) behind (.clk, .en, .d(p), .q);
endmodule
