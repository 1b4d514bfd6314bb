// Delay line of N registers; N = 0 is a wire.
module allo_pipe #(parameter int W = 32, parameter int N = 1) (
  input logic clk, input logic en, input logic [W-1:0] d, output logic [W-1:0] q);
  if (N == 0) begin : g_wire
    assign q = d;
  end else if (N == 1) begin : g_register
    always_ff @(posedge clk) if (en) q <= d;
  end else begin : g_line
    logic [N*W-1:0] stages; // one vector: synthesis finds shift registers in it
    always_ff @(posedge clk) if (en) stages <= {stages[(N-1)*W-1:0], d};
    assign q = stages[N*W-1 -: W];
  end
endmodule
