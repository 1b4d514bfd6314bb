// Product of floats by the machine that simulates: the bits and cycles of the module to synthesise.
import "DPI-C" pure function longint unsigned allo_float_mul(input int layout, input longint unsigned a, input longint unsigned b);
module allo_fmul #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 4,
  parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  localparam logic [EXP+MAN:0] SIGN = {1'b1, {(EXP+MAN){1'b0}}};
  wire [EXP+MAN:0] af = FLUSH && a[EXP+MAN-1:MAN] == '0 ? a & SIGN : a;
  wire [EXP+MAN:0] bf = FLUSH && b[EXP+MAN-1:MAN] == '0 ? b & SIGN : b;
  wire [63:0] r = allo_float_mul(EXP * 64 + MAN, 64'(af), 64'(bf));
  wire [EXP+MAN:0] rf = FLUSH && r[EXP+MAN-1:MAN] == '0 ? r[EXP+MAN:0] & SIGN : r[EXP+MAN:0];
  allo_pipe #(EXP + MAN + 1, LAT) line (.clk, .en, .d(rf), .q(y));
endmodule
