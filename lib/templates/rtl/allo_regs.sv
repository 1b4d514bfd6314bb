// Register file: WRITES ports write, READS ports read, with READ_LATENCY registers behind (0: the same cycle).
// Of writes of one address in one cycle the last port's stays. Port k is the k-th part of the addresses and data.
// FILL: 0, nothing is known of what it holds at first; 1, each word is INIT; 2, INIT has all words, the first one lowest.
// (No `always_ff`, beside which there may be no `initial`.)
module allo_regs #(
  parameter int W = 32, parameter int DEPTH = 4, parameter int WRITES = 1, parameter int READS = 1,
  parameter int READ_LATENCY = 0, parameter int FILL = 0,
  parameter logic [(FILL == 2 ? DEPTH * W : W)-1:0] INIT = '0, localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic [WRITES-1:0] we, input logic [WRITES*AW-1:0] waddr, input logic [WRITES*W-1:0] wdata,
  input logic ren, input logic [READS*AW-1:0] raddr, output logic [READS*W-1:0] rdata);
  (* ram_style = "registers" *) logic [W-1:0] mem [0:DEPTH-1];
  if (FILL == 1) begin : g_same
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT;
  end
  if (FILL == 2) begin : g_each
    initial for (int k = 0; k < DEPTH; k++) mem[k] = INIT[k*W +: W];
  end
  always @(posedge clk)
    for (int k = 0; k < WRITES; k++) if (we[k]) mem[waddr[k*AW +: AW]] <= wdata[k*W +: W];
  for (genvar k = 0; k < READS; k++) begin : g_read
    allo_pipe #(W, READ_LATENCY) behind (.clk, .en(ren), .d(mem[raddr[k*AW +: AW]]), .q(rdata[k*W +: W]));
  end
endmodule
