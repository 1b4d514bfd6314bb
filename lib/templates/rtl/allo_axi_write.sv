// Writer of memory over AXI4: words that are put go where requests say, one after the other. It does not wait for an
// address to be taken before it offers words. `idle`: memory has confirmed all; `failed`: with an error.
module allo_axi_write #(parameter int W = 64, parameter int A = 64, parameter int OUTSTANDING = 4) (
  input logic clk, input logic rst,
  input logic req, output logic req_ready, input logic [A-1:0] from, input logic [31:0] beats,
  input logic put, input logic [W-1:0] data, input logic [W/8-1:0] strobes, output logic full,
  output logic awvalid, input logic awready, output logic [A-1:0] awaddr, output logic [7:0] awlen,
  output logic wvalid, input logic wready, output logic [W-1:0] wdata, output logic [W/8-1:0] wstrb, output logic wlast,
  input logic bvalid, output logic bready, input logic [1:0] bresp, output logic idle, output logic failed);
  localparam int CW = $clog2(OUTSTANDING + 1);
  logic issue, no_burst, no_word, bursts_full;
  logic [7:0] issue_len, len, beat;
  logic [1:0] count, most;
  logic [CW-1:0] bursts_count, bursts_most;
  wire goes = wvalid && wready;
  assign wvalid = !no_word && !no_burst;
  assign wlast = beat == len;
  assign bready = 1'b1;
  allo_axi_bursts #(.W(W), .A(A), .OUTSTANDING(OUTSTANDING)) bursts (
    .clk, .rst, .req, .req_ready, .from, .beats, .valid(awvalid), .ready(awready), .addr(awaddr), .len(awlen),
    .issue, .issue_len, .ended(bvalid), .idle);
  allo_fifo #(.W(8), .DEPTH(OUTSTANDING)) lengths (
    .clk, .rst, .put(issue), .put_data(issue_len), .full(bursts_full), .get(goes && wlast), .get_data(len),
    .empty(no_burst), .count(bursts_count), .most(bursts_most));
  allo_fifo #(.W(W + W / 8), .DEPTH(2)) buffer (
    .clk, .rst, .put, .put_data({strobes, data}), .full, .get(goes), .get_data({wstrb, wdata}), .empty(no_word),
    .count, .most);
  always_ff @(posedge clk) begin
    if (rst) beat <= '0; else if (goes) beat <= wlast ? '0 : beat + 1'b1;
    failed <= !rst && (failed || (bvalid && bresp[1]));
  end
endmodule
