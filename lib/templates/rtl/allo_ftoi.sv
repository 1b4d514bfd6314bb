// A float as an integer, toward zero; beyond the range it is the nearest integer of the type, NaN is 0.
// Registers: the last one, one behind the shift, then the input.
module allo_ftoi #(
  parameter int EXP = 8, parameter int MAN = 23, parameter int W = 32, parameter bit SIGNED = 1, parameter int LAT = 2) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, output logic [W-1:0] y);
  localparam int BIAS = (1 << (EXP - 1)) - 1, P = W + MAN + 1, L = $clog2(W + 1);
  localparam int R_OUT = LAT >= 1 ? 1 : 0, R_SHIFT = LAT >= 2 ? 1 : 0, R_IN = LAT >= 3 ? LAT - 2 : 0;
  logic [EXP+MAN:0] x;
  allo_pipe #(EXP + MAN + 1, R_IN) first (.clk, .en, .d(a), .q(x));
  logic sign, zero, inf, nan;
  logic [EXP-1:0] e;
  logic [MAN:0] m;
  allo_fopen #(EXP, MAN) open_x (.a(x), .sign, .zero, .inf, .nan, .e, .m);
  wire part = 32'(e) < unsigned'(BIAS); // less than 1
  wire [31:0] places = 32'(e) - BIAS; // of the first digit
  wire most = !part && places >= unsigned'(W);
  wire [P-1:0] shifted = P'(m) << (part | most ? L'(0) : places[L-1:0]);
  wire [W-1:0] whole = part ? '0 : shifted[P-2 -: W];
  logic [W-1:0] whole1;
  logic sign1, most1, nan1;
  allo_pipe #(W + 3, R_SHIFT) shift (.clk, .en, .d({whole, sign, most | inf, nan}), .q({whole1, sign1, most1, nan1}));
  logic [W-1:0] r;
  localparam logic [W-1:0] TOP = W'(1) << (W - 1);
  if (SIGNED) begin : g_signed
    wire beyond = most1 | whole1[W-1]; // the least integer is its own limit
    assign r = nan1 ? '0 : beyond ? (sign1 ? TOP : ~TOP) : sign1 ? -whole1 : whole1;
  end else begin : g_unsigned
    assign r = nan1 | sign1 ? '0 : most1 ? '1 : whole1;
  end
  allo_pipe #(W, R_OUT) last (.clk, .en, .d(r), .q(y));
endmodule
