// N digits of the root of a number of 2 N digits, and whether a rest is left; `along` is `c` of the same time.
// LAT registers are spread over the rows of subtraction.
module allo_root #(parameter int N = 26, parameter int C = 1, parameter int LAT = 0) (
  input logic clk, input logic en, input logic [2*N-1:0] a, input logic [C-1:0] c,
  output logic [N-1:0] q, output logic rest, output logic [C-1:0] along);
  localparam int PARTS = LAT == 0 ? 1 : LAT < N ? LAT : N;
  localparam int X = 4 * N + 4 + C;
  logic [X-1:0] state [0:PARTS-1];
  for (genvar k = 0; k < PARTS; k++) begin : g_part
    localparam int FROM = k * N / PARTS, TO = (k + 1) * N / PARTS;
    localparam int REGISTERS = LAT == 0 ? 0 : k < PARTS - 1 ? 1 : LAT - PARTS + 1;
    logic [2*N-1:0] given, ahead; // digits of the radicand that are left
    logic [N+3:0] given_rest, left;
    logic [N-1:0] before_it, digits;
    logic [C-1:0] beside;
    if (k == 0) begin : g_first
      assign {given, given_rest, before_it, beside} = {a, (N + 4)'(0), N'(0), c};
    end else begin : g_next
      assign {given, given_rest, before_it, beside} = state[k-1];
    end
    logic fits;
    always_comb begin
      ahead = given;
      left = given_rest;
      digits = before_it;
      fits = 0;
      for (int i = FROM; i < TO; i++) begin
        left = {left[N+1:0], ahead[2*N-1 -: 2]};
        ahead = ahead << 2;
        fits = left >= {2'b0, digits, 2'b01};
        if (fits) left = left - {2'b0, digits, 2'b01};
        digits = (digits << 1) | N'(fits);
      end
    end
    allo_pipe #(X, REGISTERS) behind (.clk, .en, .d({ahead, left, digits, beside}), .q(state[k]));
  end
  logic [2*N-1:0] none;
  logic [N+3:0] last;
  assign {none, last, q, along} = state[PARTS-1];
  assign rest = last != '0;
endmodule
