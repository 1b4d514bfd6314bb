// Greater (LESS: lesser) of two floats; 0.0 is greater than -0.0. With a NaN it is NaN (arith.maximumf, minimumf), or the
// other number (NUMBER: arith.maxnumf, minnumf).
module allo_fextreme #(
  parameter int EXP = 8, parameter int MAN = 23, parameter bit LESS = 0, parameter bit NUMBER = 0, parameter int LAT = 1) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  localparam int F = EXP + MAN + 1;
  localparam logic [EXP-1:0] ONES = '1;
  wire a_nan = a[F-2:0] > {ONES, {MAN{1'b0}}}, b_nan = b[F-2:0] > {ONES, {MAN{1'b0}}};
  wire less = a[F-1] != b[F-1] ? a[F-1] : a[F-1] ? a[F-2:0] > b[F-2:0] : a[F-2:0] < b[F-2:0];
  wire [F-1:0] chosen = less ^ LESS ? b : a;
  wire [F-1:0] nan = {1'b0, ONES, 1'b1, {(MAN-1){1'b0}}};
  wire [F-1:0] r = NUMBER ? (a_nan ? (b_nan ? nan : b) : b_nan ? a : chosen) : a_nan | b_nan ? nan : chosen;
  allo_pipe #(F, LAT) line (.clk, .en, .d(r), .q(y));
endmodule
