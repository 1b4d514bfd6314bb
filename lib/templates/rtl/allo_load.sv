// Elements out of words of W bits: groups of LANES elements, which take E bits each there and have B bits here, a group
// a cycle while it is `active`. An element wider than a word comes in several. `last`: it is the last group of all.
module allo_load #(parameter int W = 64, parameter int E = 32, parameter int B = 32, parameter int LANES = 1) (
  input logic clk, input logic rst, input logic active, input logic valid, input logic [W-1:0] data, output logic take,
  input logic last, output logic step, output logic [LANES*B-1:0] group);
  localparam int G = LANES * E;
  localparam int PARTS = G > W ? G / W : W / G;
  localparam int PW = PARTS > 1 ? $clog2(PARTS) : 1;
  logic [PW-1:0] part;
  wire is_last_part = part == $unsigned(PW'(PARTS - 1));
  wire goes = active && valid;
  logic [G-1:0] whole;
  generate
    if (G > W) begin : g_collect
      logic [G-W-1:0] before_it; // the words before, the first one lowest
      assign whole = {data, before_it};
      assign step = goes && is_last_part;
      assign take = goes;
      always_ff @(posedge clk) if (goes) before_it <= (G-W)'({data, before_it} >> W);
    end else begin : g_choose
      assign whole = data[part * G +: G];
      assign step = goes;
      assign take = goes && (is_last_part || last);
    end
    for (genvar k = 0; k < LANES; k++) begin : g_lane
      assign group[k*B +: B] = whole[k*E +: B];
    end
  endgenerate
  always_ff @(posedge clk)
    if (rst) part <= '0; else if (goes) part <= is_last_part || (step && last) ? '0 : part + 1'b1;
endmodule
