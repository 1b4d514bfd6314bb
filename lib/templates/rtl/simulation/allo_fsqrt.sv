// Square root of a float by the machine that simulates: the bits and cycles of the module to synthesise.
import "DPI-C" pure function longint unsigned allo_float_sqrt(input int layout, input longint unsigned a);
module allo_fsqrt #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 14,
  parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, output logic [EXP+MAN:0] y);
  localparam logic [EXP+MAN:0] SIGN = {1'b1, {(EXP+MAN){1'b0}}};
  wire [EXP+MAN:0] af = FLUSH && a[EXP+MAN-1:MAN] == '0 ? a & SIGN : a;
  wire [63:0] r = allo_float_sqrt(EXP * 64 + MAN, 64'(af));
  wire [EXP+MAN:0] rf = FLUSH && r[EXP+MAN-1:MAN] == '0 ? r[EXP+MAN:0] & SIGN : r[EXP+MAN:0];
  allo_pipe #(EXP + MAN + 1, LAT) line (.clk, .en, .d(rf), .q(y));
endmodule
