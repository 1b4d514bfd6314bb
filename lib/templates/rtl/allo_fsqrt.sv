// Square root of a float, a row of subtraction a digit. Registers: rounding, then the rows and the stages at either end.
module allo_fsqrt #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 14,
  parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, output logic [EXP+MAN:0] y);
  localparam int EW = EXP + 3, N = MAN + 3, P = N + 1; // N digits of the root, and one for the rest
  localparam int BIAS = (1 << (EXP - 1)) - 1;
  localparam int R_ROUND = LAT >= 1 ? 1 : 0, R_LEFT = LAT >= 4 ? 1 : 0, R_IN = LAT >= 5 ? 1 : 0;
  localparam int ROWS = LAT - R_ROUND - R_LEFT - R_IN;
  logic s, zero, infinite, not_a_number;
  logic [EXP-1:0] x_e;
  logic [MAN:0] x_m, x_d;
  logic signed [EXP+1:0] x_n;
  allo_fopen #(EXP, MAN, FLUSH) open_x (.a, .sign(s), .zero, .inf(infinite), .nan(not_a_number), .e(x_e), .m(x_m));
  allo_fnormal #(EXP, MAN, FLUSH) normal_x (.e(x_e), .m(x_m), .exponent(x_n), .digits(x_d));
  wire nan = not_a_number | (s & ~zero);
  wire signed [EW-1:0] plain = EW'(x_n) - EW'(BIAS);
  wire odd = plain[0];
  wire signed [EW-1:0] e = (plain >>> 1) + EW'(BIAS);
  localparam int C = EW + 4;
  logic [2*N-1:0] x;
  logic [C-1:0] c, c1;
  // 1 <= digits < 4 with two digits before the point
  wire [2*N-1:0] radicand = {odd ? {x_d, 1'b0} : {1'b0, x_d}, {(2*N-MAN-2){1'b0}}};
  allo_pipe #(2 * N + C, R_IN) first (.clk, .en, .d({radicand, e, s, nan, infinite, zero}), .q({x, c}));
  logic [N-1:0] q;
  logic rest;
  allo_root #(.N(N), .C(C), .LAT(ROWS)) rows (.clk, .en, .a(x), .c, .q, .rest, .along(c1));
  wire signed [EW-1:0] e1 = c1[C-1:4];
  allo_fround #(.EXP(EXP), .MAN(MAN), .P(P), .EW(EW), .FLUSH(FLUSH), .MOST(0),
    .RIGHT(0), .R_LEFT(R_LEFT), .R_ROUND(R_ROUND)) round (
    .clk, .en, .sign(c1[3]), .nan(c1[2]), .inf(c1[1]), .e(e1), .p(c1[0] ? '0 : {q, rest}), .y);
endmodule
