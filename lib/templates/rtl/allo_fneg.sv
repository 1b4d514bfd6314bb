// A float with the other sign.
module allo_fneg #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, output logic [EXP+MAN:0] y);
  allo_pipe #(EXP + MAN + 1, LAT) line (.clk, .en, .d({~a[EXP+MAN], a[EXP+MAN-1:0]}), .q(y));
endmodule
