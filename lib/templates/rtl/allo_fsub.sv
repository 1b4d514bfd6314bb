// Difference of floats: allo_fadd with the other sign.
module allo_fsub #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 7, parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  allo_fadd #(.EXP(EXP), .MAN(MAN), .LAT(LAT), .SUB(1), .FLUSH(FLUSH)) add (.clk, .en, .a, .b, .y);
endmodule
