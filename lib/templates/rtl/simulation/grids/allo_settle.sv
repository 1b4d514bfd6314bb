// What GRID units of LAT registers give to pipelines that may stand still while the units do not.
module allo_settle_grid #(
  parameter int GRID = 8, parameter int W = 32, parameter int LAT = 1, parameter int DEPTH = 1,
  localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic rst, input logic issued [0:SIZE-1], input logic [W-1:0] d [0:SIZE-1],
  input logic take [0:SIZE-1], output logic [W-1:0] y [0:SIZE-1]);
  localparam int CW = $clog2(DEPTH + 1);
  logic [LAT-1:0] on_way [0:SIZE-1], on_way_next [0:SIZE-1];
  logic [CW-1:0] count [0:SIZE-1], most [0:SIZE-1];
  logic [W-1:0] oldest [0:SIZE-1];
  logic full [0:SIZE-1], empty [0:SIZE-1], put [0:SIZE-1], get [0:SIZE-1];
  always_comb
    for (int p = 0; p < GRID; p++) begin
      on_way_next[p] = LAT'({on_way[p], issued[p]});
      put[p] = on_way[p][LAT-1] & ~(take[p] & empty[p]);
      get[p] = take[p] & ~empty[p];
    end
  logic [LAT-1:0] none [0:SIZE-1];  // '{default: '0} becomes a number for each unit in C++
  initial for (int p = 0; p < SIZE; p++) none[p] = '0;
  always_ff @(posedge clk) if (rst) on_way <= none; else on_way <= on_way_next;
  allo_fifo_grid #(.GRID(GRID), .W(W), .DEPTH(DEPTH)) waiting (.clk, .rst, .put, .put_data(d), .full,
    .get, .get_data(oldest), .empty, .count, .most);
  always_comb for (int p = 0; p < GRID; p++) y[p] = empty[p] ? d[p] : oldest[p];
endmodule
