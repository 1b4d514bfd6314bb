// What a loop does in a simulation, which sets all of it to 0 before a run: the cycle now, runs, iterations, the first
// cycle of the first run, the end of the last one, the least and the most cycles from iteration to iteration in a run,
// and the begin of the last iteration.
module allo_monitor #(parameter int W = 64) (
  input logic clk, input logic en, input logic begins, input logic steps, input logic ends);
  localparam int DEPTH = 8;
  logic [W-1:0] seen [0:DEPTH-1];
  logic running;
  wire [W-1:0] gap = seen[0] - seen[7];
  always_ff @(posedge clk) begin
    seen[0] <= seen[0] + 1'b1;
    if (en) begin
      running <= steps | (running & ~begins);
      if (begins) seen[1] <= seen[1] + 1'b1;
      if (begins && seen[1] == '0) seen[3] <= seen[0];
      if (ends) seen[4] <= seen[0];
      if (steps) begin
        seen[2] <= seen[2] + 1'b1;
        seen[7] <= seen[0];
        if (running & ~begins) begin
          if (seen[5] == '0 || gap < seen[5]) seen[5] <= gap;
          if (gap > seen[6]) seen[6] <= gap;
        end
      end
    end
  end
endmodule
