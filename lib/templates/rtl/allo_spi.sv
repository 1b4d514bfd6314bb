// Device of a serial port (SPI, mode 0): a word of N bits, its first bit first. `access` is 1 for a cycle when a word has
// come and `select_n` went up; `answered` puts W bits at its end, which go out with the next word.
// A half period of `sck` takes at least 4 cycles of `clk`, and so does `select_n` up.
module allo_spi #(parameter int N = 8, parameter int W = 4) (
  input logic clk, input logic sck, input logic select_n, input logic mosi, output logic miso,
  output logic access, output logic [N-1:0] word, input logic answered, input logic [W-1:0] answer);
  logic [2:0] clocks, selects; // the first of each may be between 0 and 1
  logic [1:0] bits;
  always_ff @(posedge clk) begin
    clocks <= {clocks[1:0], sck};
    selects <= {selects[1:0], select_n};
    bits <= {bits[0], mosi};
    access <= selects[1] & ~selects[2];
    if (clocks[1] & ~clocks[2] & ~selects[1]) word <= {word[N-2:0], bits[1]};
    else if (answered) word[W-1:0] <= answer;
  end
  assign miso = word[N-1];
endmodule
