// What a float is: its class, its exponent (that of the least normal number for subnormal ones), its digits with the first.
// FLUSH: a subnormal number is a zero.
module allo_fopen #(parameter int EXP = 8, parameter int MAN = 23, parameter bit FLUSH = 0) (
  input logic [EXP+MAN:0] a, output logic sign, output logic zero, output logic inf, output logic nan,
  output logic [EXP-1:0] e, output logic [MAN:0] m);
  wire least = a[EXP+MAN-1:MAN] == '0, most = &a[EXP+MAN-1:MAN], digits = |a[MAN-1:0];
  assign sign = a[EXP+MAN];
  assign zero = least & (FLUSH | ~digits);
  assign inf = most & ~digits;
  assign nan = most & digits;
  assign e = a[EXP+MAN-1:MAN] | EXP'(least);
  assign m = {~least, FLUSH && least ? MAN'(0) : a[MAN-1:0]};
endmodule
