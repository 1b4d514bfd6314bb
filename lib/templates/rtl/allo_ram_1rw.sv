// Memory with one port that reads and writes. While it writes, it reads what was there before.
// READ_LATENCY counts enabled cycles from the address to `q`: the memory's own register and READ_LATENCY - 1 behind it.
module allo_ram_1rw #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1, parameter STYLE = "auto",
  localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic en, input logic we, input logic [AW-1:0] addr, input logic [W-1:0] d,
  output logic [W-1:0] q);
  (* ram_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  logic [W-1:0] read;
  always_ff @(posedge clk) if (en) begin
    if (we) mem[addr] <= d;
    read <= mem[addr];
  end
  allo_pipe #(W, READ_LATENCY - 1) behind (.clk, .en, .d(read), .q);
endmodule
