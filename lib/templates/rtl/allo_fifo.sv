// First-word fall-through FIFO of any depth. Its flags are functions of registers only, so no path goes through it.
// A put when it is full and a get when it is empty do nothing; simulation reports them.
module allo_fifo #(parameter int W = 32, parameter int DEPTH = 2, localparam int CW = $clog2(DEPTH + 1)) (
  input logic clk, input logic rst,
  input logic put, input logic [W-1:0] put_data, output logic full,
  input logic get, output logic [W-1:0] get_data, output logic empty,
  output logic [CW-1:0] count, output logic [CW-1:0] most); // the elements now, and the most there have been
  localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);
  logic [W-1:0] mem [0:DEPTH-1];
  logic [AW-1:0] head, tail;
  wire puts = put & ~full, gets = get & ~empty;
  wire [CW-1:0] next = count + CW'(puts) - CW'(gets);
  assign full = count == CW'(DEPTH);
  assign empty = count == '0;
  assign get_data = mem[head];
  always_ff @(posedge clk) begin
    if (puts) mem[tail] <= put_data;
    if (rst) begin
      head <= '0; tail <= '0; count <= '0; most <= '0;
    end else begin
      if (puts) tail <= tail == LAST ? '0 : tail + 1'b1;
      if (gets) head <= head == LAST ? '0 : head + 1'b1;
      count <= next;
      if (next > most) most <= next;
    end
  end
`ifdef ALLO_SIMULATION
  always_ff @(posedge clk) if (!rst) begin
    assert (!(put && full)) else $error("put into a full FIFO");
    assert (!(get && empty)) else $error("get from an empty FIFO");
  end
`endif
endmodule
