// Product of two integers in WO bits. Registers: the last one behind the product, then one at the inputs, then more
// behind it, which fill those of DSP blocks.
module allo_mul #(
  parameter int WA = 32, parameter int WB = 32, parameter int WO = 32, parameter bit SIGNED = 1, parameter int LAT = 3) (
  input logic clk, input logic en, input logic [WA-1:0] a, input logic [WB-1:0] b, output logic [WO-1:0] y);
  localparam int WP = WA + WB;
  localparam int INPUT = LAT >= 2 ? 1 : 0;
  logic [WA-1:0] x;
  logic [WB-1:0] z;
  logic [WP-1:0] p, q;
  allo_pipe #(WA, INPUT) before_a (.clk, .en, .d(a), .q(x));
  allo_pipe #(WB, INPUT) before_b (.clk, .en, .d(b), .q(z));
  if (SIGNED) begin : g_signed
    assign p = WP'($signed(x)) * WP'($signed(z));
    assign y = WO'($signed(q));
  end else begin : g_unsigned
    assign p = WP'(x) * WP'(z);
    assign y = WO'(q);
  end
  allo_pipe #(WP, LAT - INPUT) behind (.clk, .en, .d(p), .q);
endmodule
