// Comparison of floats; PRED is the number of the predicate in arith.cmpf.
module allo_fcmp #(parameter int EXP = 8, parameter int MAN = 23, parameter int PRED = 1, parameter int LAT = 1) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic y);
  localparam int F = EXP + MAN + 1;
  // unordered, less, greater, equal; `uno` stands behind the six that accept unordered operands too
  localparam logic [3:0] ACCEPTED = 4'(PRED < 8 || PRED == 15 ? PRED : PRED == 14 ? 8 : PRED + 1);
  localparam logic [EXP-1:0] ONES = '1;
  wire unordered = a[F-2:0] > {ONES, {MAN{1'b0}}} || b[F-2:0] > {ONES, {MAN{1'b0}}};
  wire zeros = a[F-2:0] == '0 && b[F-2:0] == '0;
  wire same = a == b || zeros;
  wire less = a[F-1] != b[F-1] ? a[F-1] : a[F-1] ? a[F-2:0] > b[F-2:0] : a[F-2:0] < b[F-2:0];
  wire [3:0] is = unordered ? 4'b1000 : same ? 4'b0001 : less ? 4'b0100 : 4'b0010;
  allo_pipe #(1, LAT) line (.clk, .en, .d(|(is & ACCEPTED)), .q(y));
endmodule
