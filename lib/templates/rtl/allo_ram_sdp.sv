// Memory with one port that writes and one that reads; in a cycle that writes an address, it reads what was there before.
// READ_LATENCY counts cycles with `ren` from the address to `rdata`.
// FILL: 0, nothing is known of what it holds at first; 1, each word is INIT; 2, INIT has all words, the first one lowest.
// (No `always_ff`, beside which there may be no `initial`.)
module allo_ram_sdp #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1, parameter STYLE = "auto",
  parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic we, input logic [AW-1:0] waddr, input logic [W-1:0] wdata,
  input logic ren, input logic [AW-1:0] raddr, output logic [W-1:0] rdata);
  (* ram_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT[k*W +: W];
  end
  logic [W-1:0] read;
  always @(posedge clk) begin
    if (we) mem[waddr] <= wdata;
    if (ren) read <= mem[raddr];
  end
  allo_pipe #(W, READ_LATENCY - 1) behind (.clk, .en(ren), .d(read), .q(rdata));
endmodule
