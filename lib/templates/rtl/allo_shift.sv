// Shift by a run-time amount of any width; one that is not less than W, or negative (AMOUNT_SIGNED), shifts out all bits.
// KIND: 0 to the left, 1 to the right with zeros, 2 to the right with the sign.
module allo_shift #(
  parameter int W = 32, parameter int WB = 32, parameter int KIND = 0, parameter bit AMOUNT_SIGNED = 0,
  parameter int LAT = 0) (
  input logic clk, input logic en, input logic [W-1:0] a, input logic [WB-1:0] b, output logic [W-1:0] y);
  wire [WB+31:0] amount = (WB + 32)'(b);
  wire all = (AMOUNT_SIGNED & b[WB-1]) || amount >= (WB + 32)'(unsigned'(W));
  logic [W-1:0] shifted;
  if (KIND == 0) begin : g_left
    assign shifted = all ? '0 : a << amount[31:0];
  end else if (KIND == 1) begin : g_right
    assign shifted = all ? '0 : a >> amount[31:0];
  end else begin : g_arithmetic
    assign shifted = all ? {W{a[W-1]}} : W'($signed(a) >>> amount[31:0]);
  end
  allo_pipe #(W, LAT) behind (.clk, .en, .d(shifted), .q(y));
endmodule
