// GRID first-word fall-through FIFOs: the bits and cycles of so many modules to synthesise.
module allo_fifo_grid #(
  parameter int GRID = 8, parameter int W = 32, parameter int DEPTH = 2, localparam int CW = $clog2(DEPTH + 1),
  localparam int SIZE = 1 << $clog2(GRID)) (
  input logic clk, input logic rst,
  input logic put [0:SIZE-1], input logic [W-1:0] put_data [0:SIZE-1], output logic full [0:SIZE-1],
  input logic get [0:SIZE-1], output logic [W-1:0] get_data [0:SIZE-1], output logic empty [0:SIZE-1],
  output logic [CW-1:0] count [0:SIZE-1], output logic [CW-1:0] most [0:SIZE-1]);
  localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);
  localparam logic [CW-1:0] ALL = CW'(DEPTH);
  logic [W-1:0] mem [0:SIZE-1][0:DEPTH-1];
  logic [AW-1:0] head [0:SIZE-1], tail [0:SIZE-1], head_next [0:SIZE-1], tail_next [0:SIZE-1];
  logic [CW-1:0] count_next [0:SIZE-1], most_next [0:SIZE-1];
  logic [63:0] all_puts [0:SIZE-1], all_gets [0:SIZE-1], all_puts_next [0:SIZE-1], all_gets_next [0:SIZE-1];
  // Reset values: '{default: '0} becomes a number for each FIFO in C++
  logic [AW-1:0] no_place [0:SIZE-1];
  logic [CW-1:0] none [0:SIZE-1];
  logic [63:0] none_yet [0:SIZE-1];
  initial
    for (int p = 0; p < SIZE; p++) begin
      no_place[p] = '0;
      none[p] = '0;
      none_yet[p] = '0;
    end
  always_comb
    for (int p = 0; p < GRID; p++) begin
      full[p] = count[p] == ALL;
      empty[p] = count[p] == '0;
      get_data[p] = mem[p][head[p]];
    end
  always_comb
    for (int p = 0; p < GRID; p++) begin
      logic puts, gets;
      puts = put[p] & ~full[p];
      gets = get[p] & ~empty[p];
      tail_next[p] = !puts ? tail[p] : tail[p] == LAST ? '0 : tail[p] + 1'b1;
      head_next[p] = !gets ? head[p] : head[p] == LAST ? '0 : head[p] + 1'b1;
      count_next[p] = count[p] + CW'(puts) - CW'(gets);
      most_next[p] = count_next[p] > most[p] ? count_next[p] : most[p];
      all_puts_next[p] = all_puts[p] + 64'(puts);
      all_gets_next[p] = all_gets[p] + 64'(gets);
    end
  always_ff @(posedge clk)
    if (rst) begin
      head <= no_place; tail <= no_place; count <= none; most <= none; all_puts <= none_yet; all_gets <= none_yet;
    end else begin
      head <= head_next; tail <= tail_next; count <= count_next; most <= most_next;
      all_puts <= all_puts_next; all_gets <= all_gets_next;
    end
  always_ff @(posedge clk)
    for (int p = 0; p < GRID; p++) begin
      if (put[p] & ~full[p]) mem[p][tail[p]] <= put_data[p];
      assert (rst || !(put[p] && full[p])) else $error("put into a full FIFO");
      assert (rst || !(get[p] && empty[p])) else $error("get from an empty FIFO");
    end
endmodule
