// N digits of a / b for a < 2 b, the first before the point, and whether a rest is left; `along` is `c` of the same time.
// LAT registers are spread over the rows of subtraction.
module allo_digits #(
  parameter int W = 24, parameter int N = 26, parameter int C = 1, parameter int LAT = 0) (
  input logic clk, input logic en, input logic [W-1:0] a, input logic [W-1:0] b, input logic [C-1:0] c,
  output logic [N-1:0] q, output logic rest, output logic [C-1:0] along);
  localparam int PARTS = LAT == 0 ? 1 : LAT < N ? LAT : N;
  localparam int X = 2 * W + 1 + N + C;
  logic [X-1:0] state [0:PARTS-1];
  for (genvar k = 0; k < PARTS; k++) begin : g_part
    localparam int FROM = k * N / PARTS, TO = (k + 1) * N / PARTS;
    localparam int REGISTERS = LAT == 0 ? 0 : k < PARTS - 1 ? 1 : LAT - PARTS + 1;
    logic [W:0] given, left;
    logic [W-1:0] by;
    logic [N-1:0] before_it, digits;
    logic [C-1:0] beside;
    if (k == 0) begin : g_first
      assign {given, by, before_it, beside} = {1'b0, a, b, N'(0), c};
    end else begin : g_next
      assign {given, by, before_it, beside} = state[k-1];
    end
    logic fits;
    always_comb begin
      left = given;
      digits = before_it;
      fits = 0;
      for (int i = FROM; i < TO; i++) begin
        fits = left >= {1'b0, by};
        if (fits) left = left - {1'b0, by};
        left = left << 1;
        digits = (digits << 1) | N'(fits);
      end
    end
    allo_pipe #(X, REGISTERS) behind (.clk, .en, .d({left, by, digits, beside}), .q(state[k]));
  end
  logic [W:0] last;
  logic [W-1:0] divisor;
  assign {last, divisor, q, along} = state[PARTS-1];
  assign rest = last != '0;
endmodule
