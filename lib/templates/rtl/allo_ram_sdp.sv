// Memory with one port that writes and one that reads; in a cycle that writes an address, it reads what was there before.
// READ_LATENCY counts cycles with `ren` from the address to `rdata`.
module allo_ram_sdp #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1, parameter STYLE = "auto",
  localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic we, input logic [AW-1:0] waddr, input logic [W-1:0] wdata,
  input logic ren, input logic [AW-1:0] raddr, output logic [W-1:0] rdata);
  (* ram_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  logic [W-1:0] read;
  always_ff @(posedge clk) begin
    if (we) mem[waddr] <= wdata;
    if (ren) read <= mem[raddr];
  end
  allo_pipe #(W, READ_LATENCY - 1) behind (.clk, .en(ren), .d(read), .q(rdata));
endmodule
