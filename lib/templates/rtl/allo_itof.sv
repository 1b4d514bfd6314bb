// The float nearest to an integer. Registers: rounding, shifts, then behind the magnitude.
module allo_itof #(
  parameter int W = 32, parameter bit SIGNED = 1, parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 3) (
  input logic clk, input logic en, input logic [W-1:0] a, output logic [EXP+MAN:0] y);
  localparam int P = (W > MAN + 3 ? W : MAN + 3);
  localparam int FIRST = (1 << (EXP - 1)) - 2 + W; // biased exponent of the first digit
  localparam int EW = ($clog2(FIRST + 1) > EXP ? $clog2(FIRST + 1) : EXP) + 2;
  localparam int R_ROUND = LAT >= 1 ? 1 : 0, R_LEFT = LAT >= 2 ? 1 : 0, R_IN = LAT >= 3 ? LAT - 2 : 0;
  wire minus = SIGNED & a[W-1];
  wire [W-1:0] size = minus ? -a : a;
  logic [W-1:0] m;
  logic sign;
  allo_pipe #(W + 1, R_IN) first (.clk, .en, .d({size, minus}), .q({m, sign}));
  allo_fround #(.EXP(EXP), .MAN(MAN), .P(P), .EW(EW), .RIGHT(0), .R_LEFT(R_LEFT), .R_ROUND(R_ROUND)) round (
    .clk, .en, .sign, .nan(1'b0), .inf(1'b0), .e(EW'(FIRST)), .p(P'(m) << (P - W)), .y);
endmodule
