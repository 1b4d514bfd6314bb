// Turns of COUNT parties, one after the other: `begins` gives the first one its turn, `next` ends the turn that is.
module allo_turns #(parameter int COUNT = 2) (
  input logic clk, input logic rst, input logic begins, input logic next, output logic [COUNT-1:0] turn);
  always_ff @(posedge clk)
    if (rst) turn <= '0;
    else if (begins) turn <= COUNT'(1);
    else if (next) turn <= turn << 1;
endmodule
