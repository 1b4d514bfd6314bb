// A float in another format. Registers: rounding, shifts, then the input.
module allo_fconv #(
  parameter int EXP_A = 8, parameter int MAN_A = 23, parameter int EXP_Y = 5, parameter int MAN_Y = 10,
  parameter int LAT = 2, parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP_A+MAN_A:0] a, output logic [EXP_Y+MAN_Y:0] y);
  localparam int EW = (EXP_A > EXP_Y ? EXP_A : EXP_Y) + 2, P = (MAN_A > MAN_Y + 2 ? MAN_A : MAN_Y + 2) + 1;
  localparam int R_ROUND = LAT >= 1 ? 1 : 0, R_LEFT = LAT >= 2 ? 1 : 0, R_RIGHT = LAT >= 3 ? 1 : 0;
  localparam int R_IN = LAT >= 4 ? LAT - 3 : 0;
  localparam int SHIFT = (1 << (EXP_Y - 1)) - (1 << (EXP_A - 1)); // between the biases
  logic [EXP_A+MAN_A:0] x;
  allo_pipe #(EXP_A + MAN_A + 1, R_IN) first (.clk, .en, .d(a), .q(x));
  logic sign, zero, inf, nan;
  logic [EXP_A-1:0] x_e;
  logic [MAN_A:0] x_m;
  allo_fopen #(EXP_A, MAN_A, FLUSH) open_x (.a(x), .sign, .zero, .inf, .nan, .e(x_e), .m(x_m));
  wire signed [EW-1:0] e = EW'(x_e) + EW'(SHIFT);
  allo_fround #(.EXP(EXP_Y), .MAN(MAN_Y), .P(P), .EW(EW), .FLUSH(FLUSH), .MOST(0),
    .R_RIGHT(R_RIGHT), .R_LEFT(R_LEFT), .R_ROUND(R_ROUND)) round (
    .clk, .en, .sign, .nan, .inf, .e, .p(P'(x_m) << (P - MAN_A - 1)), .y);
endmodule
