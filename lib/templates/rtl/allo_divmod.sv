// Quotient and remainder of integers, a row of subtraction a digit, LAT registers spread over the rows.
// ROUND is where the quotient goes: 0 toward zero, 1 down (floor), 2 up; a = quotient * b + remainder.
// By zero the quotient is a and the remainder 0, as in kernels. The least integer by -1 wraps to itself.
module allo_divmod #(
  parameter int W = 32, parameter bit SIGNED = 1, parameter int ROUND = 0, parameter int LAT = W) (
  input logic clk, input logic en, input logic [W-1:0] a, input logic [W-1:0] b,
  output logic [W-1:0] quotient, output logic [W-1:0] remainder);
  localparam int PARTS = LAT == 0 ? 1 : LAT < W ? LAT : W;
  localparam int X = 3 * W + 3;
  wire a_minus = SIGNED & a[W-1], b_minus = SIGNED & b[W-1];
  logic [X-1:0] state [0:PARTS-1];
  for (genvar k = 0; k < PARTS; k++) begin : g_part
    localparam int FROM = k * W / PARTS, TO = (k + 1) * W / PARTS;
    localparam int REGISTERS = LAT == 0 ? 0 : k < PARTS - 1 ? 1 : LAT - PARTS + 1;
    logic [W-1:0] given, given_rest, digits, left, by; // digits: of the dividend, below them those of the quotient
    logic [2:0] signs; // of dividend and divisor; division by zero
    if (k == 0) begin : g_first
      assign {given, given_rest, by, signs} =
        {a_minus ? -a : a, W'(0), b_minus ? -b : b, a_minus, b_minus, b == '0};
    end else begin : g_next
      assign {given, given_rest, by, signs} = state[k-1];
    end
    logic [W:0] least;
    logic fits;
    always_comb begin
      digits = given;
      left = given_rest;
      least = '0;
      fits = 0;
      for (int i = FROM; i < TO; i++) begin
        least = {left, digits[W-1]};
        fits = least >= {1'b0, by};
        left = fits ? W'(least - {1'b0, by}) : least[W-1:0];
        digits = (digits << 1) | W'(fits);
      end
    end
    allo_pipe #(X, REGISTERS) behind (.clk, .en, .d({digits, left, by, signs}), .q(state[k]));
  end
  logic [W-1:0] size, rest, factor;
  logic minus, by_minus, zero;
  assign {size, rest, factor, minus, by_minus, zero} = state[PARTS-1];
  wire opposite = minus ^ by_minus;
  // one further from zero, if there is a rest and it lies in this direction
  wire away = rest != '0 && (ROUND == 1 ? opposite : ROUND == 2 ? !opposite : 1'b0);
  wire [W-1:0] further = size + W'(away);
  wire [W-1:0] whole = minus ? -rest : rest;
  wire [W-1:0] divisor = by_minus ? -factor : factor;
  wire [W-1:0] other = ROUND == 1 ? whole + divisor : whole - divisor;
  assign quotient = zero ? whole : opposite ? -further : further; // by zero every digit fits: the rest is the dividend
  assign remainder = zero ? '0 : away ? other : whole;
endmodule
