// First-word fall-through FIFO of any depth. Its flags are functions of registers only, so no path goes through it.
// A put when it is full and a get when it is empty do nothing; simulation reports them.
module allo_fifo #(parameter int W = 32, parameter int DEPTH = 2, localparam int CW = $clog2(DEPTH + 1)) (
  input logic clk, input logic rst,
  input logic put, input logic [W-1:0] put_data, output logic full,
  input logic get, output logic [W-1:0] get_data, output logic empty,
  output logic [CW-1:0] count, output logic [CW-1:0] most); // the elements now, and the most there have been
  localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);
  localparam logic [CW-1:0] ALL = CW'(DEPTH);
  logic [W-1:0] mem [0:DEPTH-1];
  logic [AW-1:0] head, tail;
  wire puts = put & ~full, gets = get & ~empty;
  wire [CW-1:0] next = count + CW'(puts) - CW'(gets);
  assign full = count == ALL;
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
  logic [63:0] all_puts, all_gets; // of the whole run
  always_ff @(posedge clk) begin
    all_puts <= rst ? '0 : all_puts + 64'(puts);
    all_gets <= rst ? '0 : all_gets + 64'(gets);
  end
  always_ff @(posedge clk) if (!rst) begin
    assert (!(put && full)) else $error("put into a full FIFO");
    assert (!(get && empty)) else $error("get from an empty FIFO");
  end
`endif
`ifdef ALLO_PROOF
  // Invariants from which induction proves order and flags: any one element, marked as it is put, comes out as the one
  // after those that were before it.
  logic mark, tracked; // nothing drives `mark`: it may be anything
  logic [W-1:0] marked;
  logic [CW-1:0] before_it, earlier;
  wire [CW:0] place = (CW + 1)'(head) + (CW + 1)'(before_it);
  wire [CW:0] end_place = (CW + 1)'(head) + (CW + 1)'(count);
  wire begins = puts & mark & ~tracked;
  initial begin
    head = '0; tail = '0; count = '0; most = '0; tracked = 0; before_it = '0; marked = '0; earlier = '0;
  end
  always_ff @(posedge clk)
    if (rst) tracked <= 0;
    else if (begins) begin
      tracked <= 1; marked <= put_data; before_it <= count - CW'(gets);
    end else if (tracked & gets) begin
      if (before_it == '0) tracked <= 0; else before_it <= before_it - 1'b1;
    end
  always_ff @(posedge clk) earlier <= rst ? '0 : most;
  always_comb begin
    assert (most >= earlier);
    assert (head <= LAST && tail <= LAST && count <= CW'(DEPTH) && count <= most && most <= CW'(DEPTH));
    assert (tail == AW'(end_place >= (CW + 1)'(DEPTH) ? end_place - (CW + 1)'(DEPTH) : end_place));
    assert (!(full && empty) && full == (count == CW'(DEPTH)) && empty == (count == '0));
    assert (!tracked || before_it < count);
    assert (!tracked || mem[AW'(place >= (CW + 1)'(DEPTH) ? place - (CW + 1)'(DEPTH) : place)] == marked);
    assert (!(tracked && before_it == '0) || get_data == marked);
  end
`endif
endmodule
