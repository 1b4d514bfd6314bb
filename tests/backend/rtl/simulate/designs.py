"""Small designs in SystemVerilog with the ports that a simulation drives."""

from __future__ import annotations

COUNTER = """
module counter(input logic clk, input logic rst, input logic start, input logic [19:0] until_then,
  output logic done, output logic stuck, output logic [19:0] n);
  logic runs;
  logic [12:0] narrow [0:9];
  logic [69:0] wide [0:3];
  assign stuck = 0;
  assign done = runs && n == until_then;
  always_ff @(posedge clk) if (rst) begin runs <= 0; n <= 0; end else if (start) begin runs <= 1; n <= 1; end
    else if (runs) begin
      n <= n + 1;
      narrow[n % 10] <= 13'(n);
      wide[n[1:0]] <= 70'(n) << 50;
    end
endmodule
"""

# The producer fills one FIFO, then the other; the consumer takes from both at once. The first must hold 16.
PAIR = """
module pair #(parameter int DEPTH = 16) (
  input logic clk, input logic rst, input logic start, output logic done, output logic stuck);
  logic runs, puts1, puts2, gets, full1, full2, empty1, empty2;
  logic [31:0] puts, sum, data1, data2;
  logic [4:0] taken;
  assign puts1 = runs && puts < 16 && !full1;
  assign puts2 = runs && puts >= 16 && puts < 32 && !full2;
  assign gets = runs && !empty1 && !empty2;
  allo_fifo #(.W(32), .DEPTH(DEPTH)) first (
    .clk, .rst, .put(puts1), .put_data(puts), .full(full1), .get(gets), .get_data(data1), .empty(empty1),
    .count(), .most());
  allo_fifo #(.W(32), .DEPTH(2)) second (
    .clk, .rst, .put(puts2), .put_data(puts), .full(full2), .get(gets), .get_data(data2), .empty(empty2),
    .count(), .most());
  assign stuck = runs && !puts1 && !puts2 && !gets && !done;
  assign done = taken == 16;
  always_ff @(posedge clk) if (rst) begin runs <= 0; taken <= 0; end
    else if (start) begin runs <= 1; puts <= 0; sum <= 0; taken <= 0; end
    else begin
      if (puts1 || puts2) puts <= puts + 1;
      if (gets) begin sum <= sum + data1 * data2; taken <= taken + 1; end
      if (done) runs <= 0;
    end
endmodule
"""
