// One dimension of a walk over an array in the order of its elements: a fast digit that begins again after FAST steps,
// and a slow one. `bank` and `addr` are the shares that they have in the place. After COUNT steps all begins again.
module allo_digit #(
  parameter int COUNT = 8, parameter int FAST = 8, parameter int FAST_BANK = 0, parameter int FAST_ADDR = 1,
  parameter int SLOW_BANK = 0, parameter int SLOW_ADDR = 0, parameter int BW = 1, parameter int AW = 3) (
  input logic clk, input logic rst, input logic step,
  output logic [BW-1:0] bank, output logic [AW-1:0] addr, output logic last);
  localparam int CW = COUNT > 1 ? $clog2(COUNT) : 1;
  localparam int FW = FAST > 1 ? $clog2(FAST) : 1;
  logic [CW-1:0] at;
  logic [FW-1:0] fast;
  assign last = at == $unsigned(CW'(COUNT - 1));
  always_ff @(posedge clk)
    if (rst || (step && last)) begin
      at <= '0; fast <= '0; bank <= '0; addr <= '0;
    end else if (step) begin
      at <= at + 1'b1;
      if (fast == $unsigned(FW'(FAST - 1))) begin
        fast <= '0;
        bank <= (FAST_BANK != 0 ? '0 : bank) + BW'(SLOW_BANK);
        addr <= (FAST_ADDR != 0 ? '0 : addr) + AW'(SLOW_ADDR);
      end else begin
        fast <= fast + 1'b1;
        bank <= bank + BW'(FAST_BANK);
        addr <= addr + AW'(FAST_ADDR);
      end
    end
endmodule
