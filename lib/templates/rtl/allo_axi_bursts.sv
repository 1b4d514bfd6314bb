// Addresses of bursts, for reads or writes of memory over AXI4: a request of `beats` words of W bits from `from` on
// becomes bursts of at most 256, none of which crosses 4 KiB. At most OUTSTANDING have not ended yet.
module allo_axi_bursts #(parameter int W = 64, parameter int A = 64, parameter int OUTSTANDING = 4) (
  input logic clk, input logic rst,
  input logic req, output logic req_ready, input logic [A-1:0] from, input logic [31:0] beats,
  output logic valid, input logic ready, output logic [A-1:0] addr, output logic [7:0] len,
  output logic issue, output logic [7:0] issue_len, input logic ended, output logic idle);
  localparam int SIZE = $clog2(W / 8);
  localparam int CW = $clog2(OUTSTANDING + 1);
  logic active;
  logic [A-1:0] place;
  logic [31:0] left;
  logic [CW-1:0] open;
  wire [12-SIZE:0] page = (13-SIZE)'(4096 >> SIZE) - (13-SIZE)'(place[11:SIZE]); // beats up to the next 4 KiB
  wire [8:0] most = page > 256 ? 9'd256 : 9'(page);
  wire [8:0] count = left < 32'(most) ? 9'(left) : most;
  assign issue = active && (!valid || ready) && open != $unsigned(CW'(OUTSTANDING));
  assign issue_len = 8'(count - 1'b1);
  assign req_ready = !active;
  assign idle = !active && open == '0;
  always_ff @(posedge clk) begin
    if (issue) begin addr <= place; len <= issue_len; end
    if (req && req_ready) begin place <= from; left <= beats; end
    else if (issue) begin place <= place + (A'(count) << SIZE); left <= left - 32'(count); end
    if (rst) begin
      active <= 0; valid <= 0; open <= '0;
    end else begin
      if (req && req_ready) active <= 1; else if (issue && left == 32'(count)) active <= 0;
      if (issue) valid <= 1; else if (ready) valid <= 0;
      open <= open + CW'(issue) - CW'(ended);
    end
  end
`ifdef ALLO_PROOF
  // Invariants from which induction proves that an address stays until it is taken, that no burst crosses 4 KiB, and
  // that no more are open than may be. Requests are of whole words, and no burst ends that has not been asked for.
  logic waited;
  logic [A-1:0] offered;
  logic [7:0] offered_len;
  initial begin
    active = 0; valid = 0; open = '0; waited = 0;
  end
  always_ff @(posedge clk) begin
    waited <= !rst && valid && !ready;
    offered <= addr;
    offered_len <= len;
  end
  always_comb begin
    assume (from[SIZE-1:0] == '0 && beats != 0);
    assume (!(ended && open == '0));
    assert (!active || (place[SIZE-1:0] == '0 && left != 0));
    assert (open <= CW'(OUTSTANDING));
    assert (!valid || (addr[SIZE-1:0] == '0 && 14'(addr[11:SIZE]) + 14'(len) < 14'(4096 >> SIZE)));
    assert (!waited || (valid && addr == offered && len == offered_len));
  end
`endif
endmodule
