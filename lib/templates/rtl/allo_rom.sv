// Constant memory with READS ports and READ_LATENCY registers; FILE has a hexadecimal word a line.
module allo_rom #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READS = 1, parameter int READ_LATENCY = 1,
  parameter FILE = "", parameter STYLE = "auto", localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk, input logic ren, input logic [READS*AW-1:0] raddr, output logic [READS*W-1:0] rdata);
  (* rom_style = STYLE *) logic [W-1:0] mem [0:DEPTH-1];
  if (FILE != "") begin : g_contents
    initial $readmemh(FILE, mem);
  end
  for (genvar k = 0; k < READS; k++) begin : g_read
    allo_pipe #(W, READ_LATENCY) behind (.clk, .en(ren), .d(mem[raddr[k*AW +: AW]]), .q(rdata[k*W +: W]));
  end
endmodule
