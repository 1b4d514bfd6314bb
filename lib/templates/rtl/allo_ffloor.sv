// The greatest whole number that is not above a float, as a float; NaN is the quiet one, infinities and -0.0 stay.
module allo_ffloor #(parameter int EXP = 8, parameter int MAN = 23, parameter int LAT = 3) (
  input logic clk, input logic en, input logic [EXP+MAN:0] a, output logic [EXP+MAN:0] y);
  localparam int F = EXP + MAN + 1, BIAS = (1 << (EXP - 1)) - 1;
  localparam logic [EXP-1:0] ONES = '1;
  localparam logic [F-1:0] NAN = {1'b0, ONES, 1'b1, {(MAN-1){1'b0}}};
  localparam logic [F-1:0] LEAST = {1'b1, EXP'(BIAS), {MAN{1'b0}}}; // -1
  wire sign = a[F-1];
  wire [EXP-1:0] e = a[F-2 -: EXP];
  wire part = 32'(e) < unsigned'(BIAS); // less than 1
  wire whole = 32'(e) >= unsigned'(BIAS + MAN); // no digit behind the point
  wire [31:0] places = 32'(e) - BIAS; // digits of the fraction in front of the point
  wire [F-1:0] below = F'({MAN{1'b1}} >> places); // those behind it
  wire [F-1:0] down = sign && (a & below) != '0 ? (a | below) + 1'b1 : a & ~below;
  wire [F-1:0] near = a[F-2:0] == '0 ? a : sign ? LEAST : '0;
  wire [F-1:0] r = a[F-2:0] > {ONES, {MAN{1'b0}}} ? NAN : part ? near : whole ? a : down;
  allo_pipe #(F, LAT) line (.clk, .en, .d(r), .q(y));
endmodule
