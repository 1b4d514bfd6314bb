// Quotient and remainder by the simulator's division: the bits and cycles of the module to synthesise.
module allo_divmod #(
  parameter int W = 32, parameter bit SIGNED = 1, parameter int ROUND = 0, parameter int LAT = W) (
  input logic clk, input logic en, input logic [W-1:0] a, input logic [W-1:0] b,
  output logic [W-1:0] quotient, output logic [W-1:0] remainder);
  wire zero = b == '0;
  wire a_minus = SIGNED & a[W-1], b_minus = SIGNED & b[W-1];
  wire [W-1:0] n = a_minus ? -a : a, d = zero ? W'(1) : b_minus ? -b : b;
  wire [W-1:0] size = n / d, left = n % d;
  wire opposite = (a_minus ^ b_minus) & ~zero;
  wire away = left != '0 && (ROUND == 1 ? opposite : ROUND == 2 ? !opposite : 1'b0);
  wire [W-1:0] digits = size + W'(away);
  wire [W-1:0] whole = a_minus ? -left : left;
  wire [W-1:0] toward = ROUND == 1 ? whole + b : whole - b;
  wire [W-1:0] q = zero ? a : opposite ? -digits : digits, r = away ? toward : whole;
  allo_pipe #(2 * W, LAT) line (.clk, .en, .d({q, r}), .q({quotient, remainder}));
endmodule
