// A float's digits with the first digit 1, also of subnormal numbers (but for FLUSH), and the exponent that belongs to them.
module allo_fnormal #(parameter int EXP = 8, parameter int MAN = 23, parameter bit FLUSH = 0) (
  input logic [EXP-1:0] e, input logic [MAN:0] m, output logic signed [EXP+1:0] exponent, output logic [MAN:0] digits);
  localparam int L = $clog2(MAN + 1);
  logic [L-1:0] steps;
  always_comb begin
    digits = m;
    steps = '0;
    for (int k = L - 1; k >= 0; k--)
      if (!FLUSH && 32'd1 << k <= MAN && (digits >> (MAN + 1 - (32'd1 << k))) == '0) begin
        digits = digits << (32'd1 << k);
        steps[k] = 1'b1;
      end
  end
  assign exponent = (EXP + 2)'(e) - (EXP + 2)'(steps);
endmodule
