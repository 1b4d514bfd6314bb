// What GRID loops do in a simulation, each as its own module says.
module allo_monitor_grid #(
  parameter int GRID = 8, parameter int W = 64, localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic en [0:SIZE-1], input logic begins [0:SIZE-1], input logic steps [0:SIZE-1],
  input logic ends [0:SIZE-1]);
  localparam int DEPTH = 8;
  logic [W-1:0] seen [0:SIZE-1][0:DEPTH-1]; // which only this process knows
  logic running [0:SIZE-1];
  always @(posedge clk)
    for (int p = 0; p < GRID; p++) begin
      logic [W-1:0] gap;
      gap = seen[p][0] - seen[p][7];
      if (en[p]) begin
        if (begins[p] && seen[p][1] == '0) seen[p][3] = seen[p][0];
        if (begins[p]) seen[p][1] = seen[p][1] + 1'b1;
        if (ends[p]) seen[p][4] = seen[p][0];
        if (steps[p]) begin
          seen[p][2] = seen[p][2] + 1'b1;
          seen[p][7] = seen[p][0];
          if (running[p] & ~begins[p]) begin
            if (seen[p][5] == '0 || gap < seen[p][5]) seen[p][5] = gap;
            if (gap > seen[p][6]) seen[p][6] = gap;
          end
        end
        running[p] = steps[p] | (running[p] & ~begins[p]);
      end
      seen[p][0] = seen[p][0] + 1'b1;
    end
endmodule
