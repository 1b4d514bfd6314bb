// A float without its sign.
module allo_fabs #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, output logic [EXP+MAN:0] y);
  allo_pipe #(EXP + MAN + 1, LAT) line (.clk, .en, .d({1'b0, a[EXP+MAN-1:0]}), .q(y));
endmodule
