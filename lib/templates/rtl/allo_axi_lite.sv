// Registers of a kernel behind AXI4-Lite, 32 bits each. Address 0: bit 0 starts it (and stays 1 until it has ended),
// bit 1 says that it has ended since it was read last, bit 2 that it is idle, bit 4 that memory has answered with an
// error, bit 5 that all in it waits. Address 4, bit 0, and 8, bit 0: the interrupt is enabled; 12, bit 0: it is asked for, until 1 is written.
// From 16 on: WORDS registers that are written, then READS that are only read. Nothing leads through without a register.
module allo_axi_lite #(
  parameter int WORDS = 1, parameter int READS = 1, localparam int AW = $clog2(16 + 4 * (WORDS + READS))) (
  input logic clk, input logic rst,
  input logic awvalid, output logic awready, input logic [AW-1:0] awaddr,
  input logic wvalid, output logic wready, input logic [31:0] wdata, input logic [3:0] wstrb,
  output logic bvalid, input logic bready, output logic [1:0] bresp,
  input logic arvalid, output logic arready, input logic [AW-1:0] araddr,
  output logic rvalid, input logic rready, output logic [31:0] rdata, output logic [1:0] rresp,
  output logic start, input logic done, input logic idle, input logic failed, input logic stuck,
  output logic interrupt,
  output logic [WORDS*32-1:0] values, input logic [READS*32-1:0] results);
  logic has_address, has_word, started, ended, asked;
  logic [1:0] enabled;
  logic [AW-3:0] place;
  logic [31:0] word;
  logic [3:0] bytes;
  wire writes = has_address && has_word && !bvalid;
  wire reads = arvalid && arready;
  wire [AW-3:0] read_place = araddr[AW-1:2];
  assign awready = !has_address;
  assign wready = !has_word;
  assign arready = !rvalid;
  assign bresp = 2'b00;
  assign rresp = 2'b00;
  assign interrupt = &enabled && asked;
  always_ff @(posedge clk) begin
    if (awvalid && awready) place <= awaddr[AW-1:2];
    if (wvalid && wready) begin word <= wdata; bytes <= wstrb; end
    if (rst) begin
      has_address <= 0; has_word <= 0; bvalid <= 0; rvalid <= 0;
      start <= 0; started <= 0; ended <= 0; asked <= 0; enabled <= '0;
    end else begin
      if (writes) begin
        has_address <= 0; has_word <= 0; bvalid <= 1;
      end else begin
        if (awvalid && awready) has_address <= 1;
        if (wvalid && wready) has_word <= 1;
        if (bready) bvalid <= 0;
      end
      if (reads) rvalid <= 1; else if (rready) rvalid <= 0;
      start <= writes && place == 0 && bytes[0] && word[0] && idle && !started;
      if (done) started <= 0; else if (writes && place == 0 && bytes[0] && word[0]) started <= 1;
      if (done) ended <= 1; else if (reads && read_place == 0) ended <= 0;
      if (done) asked <= 1; else if (writes && place == 3 && bytes[0] && word[0]) asked <= 0;
      if (writes && place == 1 && bytes[0]) enabled[0] <= word[0];
      if (writes && place == 2 && bytes[0]) enabled[1] <= word[0];
    end
    for (int k = 0; k < WORDS; k++)
      for (int b = 0; b < 4; b++)
        if (writes && place == $unsigned((AW-2)'(4 + k)) && bytes[b]) values[k*32 + b*8 +: 8] <= word[b*8 +: 8];
    if (reads) begin
      rdata <= '0;
      case (read_place)
        0: rdata <= {26'b0, stuck, failed, 1'b0, idle && !started, ended, started};
        1: rdata <= {31'b0, enabled[0]};
        2: rdata <= {31'b0, enabled[1]};
        3: rdata <= {31'b0, asked};
        default: ;
      endcase
      for (int k = 0; k < WORDS; k++) if (read_place == $unsigned((AW-2)'(4 + k))) rdata <= values[k*32 +: 32];
      for (int k = 0; k < READS; k++) if (read_place == $unsigned((AW-2)'(4 + WORDS + k))) rdata <= results[k*32 +: 32];
    end
  end
endmodule
