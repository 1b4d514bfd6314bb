// Reader of memory over AXI4: the words of requests, one after the other. `failed`: there was an answer that is an error.
module allo_axi_read #(parameter int W = 64, parameter int A = 64, parameter int OUTSTANDING = 4) (
  input logic clk, input logic rst,
  input logic req, output logic req_ready, input logic [A-1:0] from, input logic [31:0] beats,
  output logic arvalid, input logic arready, output logic [A-1:0] araddr, output logic [7:0] arlen,
  input logic rvalid, output logic rready, input logic [W-1:0] rdata, input logic [1:0] rresp, input logic rlast,
  output logic valid, output logic [W-1:0] data, input logic take, output logic failed);
  logic full, empty, issue, idle; // those of bursts that only a writer asks for are left alone
  logic [7:0] issue_len;
  logic [1:0] count, most;
  wire taken = rvalid && rready;
  assign rready = !full;
  assign valid = !empty;
  allo_axi_bursts #(.W(W), .A(A), .OUTSTANDING(OUTSTANDING)) bursts (
    .clk, .rst, .req, .req_ready, .from, .beats, .valid(arvalid), .ready(arready), .addr(araddr), .len(arlen),
    .issue, .issue_len, .ended(taken && rlast), .idle);
  allo_fifo #(.W(W), .DEPTH(2)) buffer (
    .clk, .rst, .put(taken), .put_data(rdata), .full, .get(take), .get_data(data), .empty, .count, .most);
  always_ff @(posedge clk) failed <= !rst && (failed || (taken && rresp[1]));
endmodule
