// Quotient of floats by the machine that simulates: the bits and cycles of the module to synthesise.
import "DPI-C" pure function longint unsigned allo_float_div(input int layout, input longint unsigned a, input longint unsigned b);
module allo_fdiv #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 14) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  wire [63:0] r = allo_float_div(EXP * 64 + MAN, 64'(a), 64'(b));
  allo_pipe #(EXP + MAN + 1, LAT) line (.clk, .en, .d(r[EXP+MAN:0]), .q(y));
endmodule
