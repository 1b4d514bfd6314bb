// Sum (SUB: difference) of floats. Registers: rounding, sum, alignment, normalisation, exchange, then the inputs.
module allo_fadd #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 7, parameter bit SUB = 0,
  parameter bit FLUSH = 0) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, input logic [EXP+MAN:0] b, output logic [EXP+MAN:0] y);
  localparam int F = EXP + MAN + 1, EW = EXP + 2, P = MAN + 5;
  localparam int R_ROUND = LAT >= 1 ? 1 : 0, R_ADD = LAT >= 2 ? 1 : 0, R_ALIGN = LAT >= 3 ? 1 : 0;
  localparam int R_LEFT = LAT >= 4 ? 1 : 0, R_SWAP = LAT >= 5 ? 1 : 0, R_IN = LAT >= 6 ? LAT - 5 : 0;
  logic [F-1:0] ai, bi;
  allo_pipe #(2 * F, R_IN) first (.clk, .en, .d({a, b[F-1] ^ SUB, b[F-2:0]}), .q({ai, bi}));
  // exchange, so that |x| >= |z|
  wire swap = ai[F-2:0] < bi[F-2:0];
  wire [F-1:0] x = swap ? bi : ai, z = swap ? ai : bi;
  logic x_s, x_0, x_inf, x_nan, z_s, z_0, z_inf, z_nan;
  logic [EXP-1:0] x_e, z_e;
  logic [MAN:0] x_m, z_m;
  allo_fopen #(EXP, MAN, FLUSH) open_x (.a(x), .sign(x_s), .zero(x_0), .inf(x_inf), .nan(x_nan), .e(x_e), .m(x_m));
  allo_fopen #(EXP, MAN, FLUSH) open_z (.a(z), .sign(z_s), .zero(z_0), .inf(z_inf), .nan(z_nan), .e(z_e), .m(z_m));
  wire unlike = x_s ^ z_s;
  wire nan = x_nan | z_nan | (x_inf & z_inf & unlike);
  logic [MAN:0] x1, z1;
  logic [EXP-1:0] e1, d1;
  logic s1, unlike1, nan1, inf1, minus1;
  allo_pipe #(2 * MAN + 2 * EXP + 7, R_SWAP) exchanged (.clk, .en,
    .d({x_m, z_m, x_e, x_e - z_e, x_s, unlike, nan, x_inf, x_s & z_s}),
    .q({x1, z1, e1, d1, s1, unlike1, nan1, inf1, minus1}));
  // align, with three digits behind of which the last stands for the rest
  localparam int L = $clog2(MAN + 4);
  wire far = 32'(d1) > unsigned'(MAN + 3);
  wire [2*MAN+3:0] shifted = {z1, {(MAN+3){1'b0}}} >> (far ? L'(MAN + 3) : L'(d1));
  wire [MAN+3:0] aligned = {shifted[2*MAN+3:MAN+1], (|shifted[MAN:0]) | (far & (|z1))};
  logic [MAN:0] x2;
  logic [MAN+3:0] z2;
  logic [EXP-1:0] e2;
  logic s2, unlike2, nan2, inf2, minus2;
  allo_pipe #(2 * MAN + EXP + 10, R_ALIGN) alignment (.clk, .en,
    .d({x1, aligned, e1, s1, unlike1, nan1, inf1, minus1}), .q({x2, z2, e2, s2, unlike2, nan2, inf2, minus2}));
  wire [P-1:0] sum = {1'b0, x2, 3'b0} + ({1'b0, z2} ^ {P{unlike2}}) + P'(unlike2);
  wire none = sum == '0; // its sign is that of both, else plus
  logic [P-1:0] p;
  logic signed [EW-1:0] e;
  logic sign, nan3, inf3;
  allo_pipe #(P + EW + 3, R_ADD) added (.clk, .en,
    .d({sum, EW'(e2) + EW'(1), none ? minus2 : s2, nan2, inf2}), .q({p, e, sign, nan3, inf3}));
  allo_fround #(.EXP(EXP), .MAN(MAN), .P(P), .EW(EW), .FLUSH(FLUSH),
    .RIGHT(0), .R_LEFT(R_LEFT), .R_ROUND(R_ROUND)) round (
    .clk, .en, .sign, .nan(nan3), .inf(inf3), .e, .p, .y);
endmodule
