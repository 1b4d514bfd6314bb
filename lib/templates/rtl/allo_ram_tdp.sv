// Memory with two ports that read and write. Both read what was there before the cycle, whichever port writes it.
// If both write one address, port b does; simulation reports it, as block RAM leaves it undefined.
// FILL: 0, nothing is known of what it holds at first; 1, each word is INIT; 2, INIT has all words, the first one lowest.
// (No `always_ff`, beside which there may be no `initial`.)
module allo_ram_tdp #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1, parameter STYLE = "auto",
  parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk,
  input logic a_en, input logic a_we, input logic [AW-1:0] a_addr, input logic [W-1:0] a_d, output logic [W-1:0] a_q,
  input logic b_en, input logic b_we, input logic [AW-1:0] b_addr, input logic [W-1:0] b_d, output logic [W-1:0] b_q);
  (* ram_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT[k*W +: W];
  end
  logic [W-1:0] a_read, b_read;
  always @(posedge clk) begin
    if (a_en) begin
      if (a_we) mem[a_addr] <= a_d;
      a_read <= mem[a_addr];
    end
    if (b_en) begin
      if (b_we) mem[b_addr] <= b_d;
      b_read <= mem[b_addr];
    end
  end
  allo_pipe #(W, READ_LATENCY - 1) a_behind (.clk, .en(a_en), .d(a_read), .q(a_q));
  allo_pipe #(W, READ_LATENCY - 1) b_behind (.clk, .en(b_en), .d(b_read), .q(b_q));
`ifdef ALLO_SIMULATION
  always_ff @(posedge clk)
    assert (!(a_en && a_we && b_en && b_we && a_addr == b_addr)) else $error("two writes of one address");
`endif
endmodule
