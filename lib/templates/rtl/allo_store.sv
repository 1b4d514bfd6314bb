// Words of W bits out of elements: groups of LANES elements of E bits, each LAT enabled cycles after its `step`, while it
// is `active`. `keep` says which elements of a group are to be stored, and `full` that no word can be put; `last` comes
// with the step of the last group of all, and `ends` with its last word.
module allo_store #(parameter int W = 64, parameter int E = 32, parameter int LANES = 1, parameter int LAT = 1) (
  input logic clk, input logic rst, input logic active, input logic last, output logic step, output logic en,
  input logic [LANES*E-1:0] group, input logic [LANES-1:0] keep,
  input logic full, output logic put, output logic [W-1:0] data, output logic [W/8-1:0] strobes, output logic ends);
  localparam int G = LANES * E;
  localparam int PARTS = G > W ? G / W : W / G;
  localparam int PW = PARTS > 1 ? $clog2(PARTS) : 1;
  logic [PW-1:0] part;
  logic sent; // the last step has been made
  logic [LAT:0] valid, is_end;
  wire is_last_part = part == $unsigned(PW'(PARTS - 1));
  wire comes = valid[LAT], at_end = is_end[LAT];
  logic [G/8-1:0] bytes;
  assign step = active && !sent && en;
  assign valid[0] = active && !sent;
  assign is_end[0] = last;
  generate
    for (genvar k = 0; k < LANES; k++) begin : g_lane
      assign bytes[k*E/8 +: E/8] = {(E/8){keep[k]}};
    end
    for (genvar k = 0; k < LAT; k++) begin : g_delay
      always_ff @(posedge clk) if (rst) valid[k+1] <= 0; else if (en) valid[k+1] <= valid[k];
      always_ff @(posedge clk) if (en) is_end[k+1] <= is_end[k];
    end
    if (G > W) begin : g_cut
      assign en = !full && (!comes || is_last_part);
      assign put = comes && !full;
      assign data = group[part * W +: W];
      assign strobes = bytes[part * (W/8) +: W/8];
      assign ends = put && is_last_part && at_end;
    end else begin : g_collect
      logic [W-1:0] kept, placed;
      logic [W/8-1:0] kept_bytes, placed_bytes;
      assign placed = kept | (W'(group) << (part * G));
      assign placed_bytes = kept_bytes | ((W/8)'(bytes) << (part * (G/8)));
      assign en = !full;
      assign put = comes && en && (is_last_part || at_end);
      assign data = placed;
      assign strobes = placed_bytes;
      assign ends = put && at_end;
      always_ff @(posedge clk)
        if (rst || put) begin kept <= '0; kept_bytes <= '0; end
        else if (comes && en) begin kept <= placed; kept_bytes <= placed_bytes; end
    end
  endgenerate
  always_ff @(posedge clk)
    if (rst) begin part <= '0; sent <= 0; end
    else begin
      if (comes && !full) part <= is_last_part || ends ? '0 : part + 1'b1;
      if (ends) sent <= 0; else if (step && last) sent <= 1;
    end
endmodule
