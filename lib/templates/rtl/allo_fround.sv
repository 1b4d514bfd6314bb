// Last part of a float operation: normalise, round to nearest even, pack. `p` is any magnitude with P digits of which the
// first has the biased exponent `e` (which may be out of range) and the last stands for all below it.
// FLUSH: what would be a subnormal number is a zero, whose distance from the least exponent does not matter; of others,
// the first 1 is at most MOST digits behind the first one.
// Stages: shift right to the least exponent (RIGHT), shift left, round; the R_ parameters are registers behind them.
module allo_fround #(
  parameter int EXP = 8, parameter int MAN = 23, parameter int P = 28, parameter int EW = 10, parameter bit RIGHT = 1,
  parameter bit FLUSH = 0, parameter int MOST = P - 1,
  parameter int R_RIGHT = 0, parameter int R_LEFT = 0, parameter int R_ROUND = 0) (
  input logic clk, input logic en, input logic sign, input logic nan, input logic inf,
  input logic signed [EW-1:0] e, input logic [P-1:0] p, output logic [EXP+MAN:0] y);
  localparam int L = $clog2(P + 1); // digits of a distance
  localparam int REACH = FLUSH ? MOST : P - 1;
  // 1: an exponent below the least one shifts right; what falls out stays as a last digit that is not 0
  wire signed [EW:0] room = (EW + 1)'(e) - 1'b1; // places to the left until the least exponent
  wire low = room[EW];
  logic [P-1:0] p0;
  if (RIGHT && !FLUSH) begin : g_right
    wire [EW:0] down = -room;
    wire far = down > (EW + 1)'(unsigned'(P));
    wire [2*P-1:0] both = {p, {P{1'b0}}} >> (far ? L'(P) : down[L-1:0]);
    assign p0 = low ? {both[2*P-1:P+1], both[P] | (|both[P-1:0])} : p;
  end else begin : g_stays
    assign p0 = p;
  end
  logic [P-1:0] p1;
  logic signed [EW:0] room1;
  logic low1, sign1, nan1, inf1;
  allo_pipe #(P + EW + 5, R_RIGHT) right (.clk, .en,
    .d({p0, room, low, sign, nan, inf}), .q({p1, room1, low1, sign1, nan1, inf1}));
  // 2: shift left until the first digit is 1 or the exponent is the least one, which a marker stops
  wire near = !FLUSH && (low1 || room1 < (EW + 1)'(P));
  wire [P-1:0] marker = near ? ({1'b1, {(P-1){1'b0}}} >> (low1 ? L'(0) : room1[L-1:0])) : '0;
  logic [P-1:0] scan, moved;
  logic [L-1:0] steps;
  always_comb begin
    scan = p1 | marker;
    moved = p1;
    steps = '0;
    for (int k = L - 1; k >= 0; k--)
      if (32'd1 << k <= REACH && (scan >> (P - (32'd1 << k))) == '0) begin
        scan = scan << (32'd1 << k);
        moved = moved << (32'd1 << k);
        steps[k] = 1'b1;
      end
  end
  wire [EW:0] field = moved[P-1] ? room1 + 1'b1 - (EW + 1)'(steps) : FLUSH ? '1 : '0; // with FLUSH below 0, too
  logic [MAN:0] m2;
  logic [EW:0] e2;
  logic guard2, rest2, sign2, nan2, inf2;
  allo_pipe #(MAN + EW + 7, R_LEFT) left (.clk, .en,
    .d({moved[P-1 -: MAN+1], field, moved[P-MAN-2], |moved[P-MAN-3:0],
        sign1, nan1, inf1}),
    .q({m2, e2, guard2, rest2, sign2, nan2, inf2}));
  // 3: round; a carry goes on into the exponent, as it should
  wire up = FLUSH && e2 == '0 ? &m2 : guard2 & (rest2 | m2[0]); // of 0: to the least normal number, or a zero
  wire [EW+MAN:0] packed2 = {e2, m2[MAN-1:0]} + (EW + MAN + 1)'(up);
  wire under = FLUSH && (e2[EW] || (e2 == '0 && !up));
  wire over = !under && packed2[EW+MAN:MAN] >= (EW + 1)'(unsigned'((1 << EXP) - 1));
  localparam logic [EXP-1:0] ONES = '1;
  wire [EXP+MAN:0] result = nan2 ? {1'b0, ONES, 1'b1, {(MAN-1){1'b0}}}
    : inf2 | over ? {sign2, ONES, {MAN{1'b0}}} : under ? {sign2, {(EXP+MAN){1'b0}}} : {sign2, packed2[EXP+MAN-1:0]};
  allo_pipe #(EXP + MAN + 1, R_ROUND) rounded (.clk, .en, .d(result), .q(y));
endmodule
