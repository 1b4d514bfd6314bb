// What a unit of LAT registers gives to a pipeline that may stand still while the unit does not: results of what was
// `issued` wait, in their order, until `take`. At most DEPTH of them are on their way or wait.
module allo_settle #(parameter int W = 32, parameter int LAT = 1, parameter int DEPTH = 1) (
  input logic clk, input logic rst,
  input logic issued, input logic [W-1:0] d, input logic take, output logic [W-1:0] y);
  localparam int CW = $clog2(DEPTH + 1);
  logic [LAT-1:0] on_way;
  logic [CW-1:0] count, most;
  logic [W-1:0] oldest;
  logic full, empty;
  wire arrives = on_way[LAT-1];
  always_ff @(posedge clk) on_way <= rst ? '0 : LAT'({on_way, issued});
  allo_fifo #(.W(W), .DEPTH(DEPTH)) waiting (.clk, .rst, .put(arrives & ~(take & empty)), .put_data(d), .full,
    .get(take & ~empty), .get_data(oldest), .empty, .count, .most);
  assign y = empty ? d : oldest;
endmodule
