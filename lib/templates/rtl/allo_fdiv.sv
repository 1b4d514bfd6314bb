// Quotient of floats, a row of subtraction a digit. Registers: rounding, then the rows and the stages at either end.
module allo_fdiv #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 14,
  parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  localparam int EW = EXP + 3, N = MAN + 3, P = N + 1; // N digits of the quotient, and one for the rest
  localparam int BIAS = (1 << (EXP - 1)) - 1;
  localparam int R_ROUND = LAT >= 1 ? 1 : 0, R_LEFT = LAT >= 4 ? 1 : 0, R_RIGHT = LAT >= 5 ? 1 : 0;
  localparam int R_IN = LAT >= 6 ? 1 : 0, ROWS = LAT - R_ROUND - R_LEFT - R_RIGHT - R_IN;
  logic x_s, x_0, x_inf, x_nan, z_s, z_0, z_inf, z_nan;
  logic [EXP-1:0] x_e, z_e;
  logic [MAN:0] x_m, z_m, x_d, z_d;
  logic signed [EXP+1:0] x_n, z_n;
  allo_fopen #(EXP, MAN, FLUSH) open_x (.a, .sign(x_s), .zero(x_0), .inf(x_inf), .nan(x_nan), .e(x_e), .m(x_m));
  allo_fopen #(EXP, MAN, FLUSH) open_z (.a(b), .sign(z_s), .zero(z_0), .inf(z_inf), .nan(z_nan), .e(z_e), .m(z_m));
  allo_fnormal #(EXP, MAN, FLUSH) normal_x (.e(x_e), .m(x_m), .exponent(x_n), .digits(x_d));
  allo_fnormal #(EXP, MAN, FLUSH) normal_z (.e(z_e), .m(z_m), .exponent(z_n), .digits(z_d));
  wire nan = x_nan | z_nan | (x_0 & z_0) | (x_inf & z_inf);
  wire inf = x_inf | z_0, none = x_0 | z_inf;
  wire signed [EW-1:0] e = EW'(x_n) - EW'(z_n) + EW'(BIAS);
  localparam int C = EW + 4;
  logic [MAN:0] x, z;
  logic [C-1:0] c, c1;
  allo_pipe #(2 * MAN + 2 + C, R_IN) first (.clk, .en, .d({x_d, z_d, e, x_s ^ z_s, nan, inf, none}), .q({x, z, c}));
  logic [N-1:0] q;
  logic rest;
  allo_digits #(.W(MAN + 1), .N(N), .C(C), .LAT(ROWS)) rows (.clk, .en, .a(x), .b(z), .c, .q, .rest, .along(c1));
  wire signed [EW-1:0] e1 = c1[C-1:4];
  allo_fround #(.EXP(EXP), .MAN(MAN), .P(P), .EW(EW), .FLUSH(FLUSH), .MOST(1),
    .R_RIGHT(R_RIGHT), .R_LEFT(R_LEFT), .R_ROUND(R_ROUND)) round (
    .clk, .en, .sign(c1[3]), .nan(c1[2]), .inf(c1[1] & ~c1[2]), .e(e1), .p(c1[0] ? '0 : {q, rest}), .y);
endmodule
