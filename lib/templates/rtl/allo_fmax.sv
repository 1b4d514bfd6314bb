// Greater of two floats: allo_fextreme.
module allo_fmax #(parameter int EXP = 8, parameter int MAN = 23, parameter bit NUMBER = 0, parameter int LAT = 1) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  allo_fextreme #(.EXP(EXP), .MAN(MAN), .LESS(0), .NUMBER(NUMBER), .LAT(LAT)) extreme (.clk, .en, .a, .b, .y);
endmodule
