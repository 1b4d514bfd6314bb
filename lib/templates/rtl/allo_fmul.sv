// Product of floats. Registers: rounding, product, product again (of a DSP block), shifts, then the inputs.
module allo_fmul #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 4,
  parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  localparam int F = EXP + MAN + 1, EW = EXP + 3, P = 2 * MAN + 2;
  localparam int BIAS = (1 << (EXP - 1)) - 1;
  localparam int R_ROUND = LAT >= 1 ? 1 : 0, R_LEFT = LAT >= 3 ? 1 : 0, R_RIGHT = LAT >= 5 ? 1 : 0;
  localparam int R_MUL = LAT >= 4 ? 2 : LAT >= 2 ? 1 : 0, R_IN = LAT >= 6 ? LAT - 5 : 0;
  logic [F-1:0] x, z;
  allo_pipe #(2 * F, R_IN) first (.clk, .en, .d({a, b}), .q({x, z}));
  logic x_s, x_0, x_inf, x_nan, z_s, z_0, z_inf, z_nan;
  logic [EXP-1:0] x_e, z_e;
  logic [MAN:0] x_m, z_m;
  allo_fopen #(EXP, MAN, FLUSH) open_x (.a(x), .sign(x_s), .zero(x_0), .inf(x_inf), .nan(x_nan), .e(x_e), .m(x_m));
  allo_fopen #(EXP, MAN, FLUSH) open_z (.a(z), .sign(z_s), .zero(z_0), .inf(z_inf), .nan(z_nan), .e(z_e), .m(z_m));
  wire nan = x_nan | z_nan | (x_inf & z_0) | (z_inf & x_0);
  wire signed [EW-1:0] e = EW'(x_e) + EW'(z_e) - EW'(BIAS - 1); // the product has two digits before the point
  wire [P-1:0] p = P'(x_m) * P'(z_m);
  logic [P-1:0] p1;
  logic signed [EW-1:0] e1;
  logic s1, nan1, inf1;
  allo_pipe #(P, R_MUL) product (.clk, .en, .d(p), .q(p1));
  allo_pipe #(EW + 3, R_MUL) beside (.clk, .en, .d({e, x_s ^ z_s, nan, x_inf | z_inf}), .q({e1, s1, nan1, inf1}));
  allo_fround #(.EXP(EXP), .MAN(MAN), .P(P), .EW(EW), .FLUSH(FLUSH), .MOST(1),
    .R_RIGHT(R_RIGHT), .R_LEFT(R_LEFT), .R_ROUND(R_ROUND)) round (
    .clk, .en, .sign(s1), .nan(nan1), .inf(inf1), .e(e1), .p(p1), .y);
endmodule
