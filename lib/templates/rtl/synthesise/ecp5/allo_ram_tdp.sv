// Memory with two ports that read and write, of ECP5's blocks. A block does not say what a port reads of a word that
// the other one writes: it is what the other port, which reads before it writes, has read. As in ../../allo_ram_tdp.sv,
// both read what was there before the cycle, and of two writes of one address that of port b stays.
module allo_ram_tdp #(
  parameter int W = 32, parameter int DEPTH = 64, parameter int READ_LATENCY = 1, parameter STYLE = "auto",
  localparam int AW = DEPTH > 1 ? $clog2(DEPTH) : 1) (
  input logic clk,
  input logic a_en, input logic a_we, input logic [AW-1:0] a_addr, input logic [W-1:0] a_d, output logic [W-1:0] a_q,
  input logic b_en, input logic b_we, input logic [AW-1:0] b_addr, input logic [W-1:0] b_d, output logic [W-1:0] b_q);
  // a block has 2^(14 - LOW) words of SHAPE bits; those of 18 have two bits of the address to enable their bytes
  localparam int SHAPE = DEPTH <= 1024 ? 18 : DEPTH <= 2048 ? 9 : DEPTH <= 4096 ? 4 : DEPTH <= 8192 ? 2 : 1;
  localparam int LOW = DEPTH <= 1024 ? 4 : DEPTH <= 2048 ? 3 : DEPTH <= 4096 ? 2 : DEPTH <= 8192 ? 1 : 0;
  localparam int COLUMNS = (W + SHAPE - 1) / SHAPE, ROWS = (DEPTH + 16383) / 16384;
  localparam int RW = ROWS > 1 ? $clog2(ROWS) : 1, ALL = COLUMNS * SHAPE;
  wire same = a_en & b_en & a_addr == b_addr;
  wire a_writes = a_we & ~(same & b_we), b_writes = b_we;
  wire [AW+13:0] a_wide = (AW + 14)'(a_addr), b_wide = (AW + 14)'(b_addr);
  wire [13:0] a_place = 14'(a_wide << LOW) | (SHAPE == 18 ? 14'd3 : 14'd0);
  wire [13:0] b_place = 14'(b_wide << LOW) | (SHAPE == 18 ? 14'd3 : 14'd0);
  wire [RW-1:0] a_row = ROWS > 1 ? RW'(a_wide >> 14) : '0, b_row = ROWS > 1 ? RW'(b_wide >> 14) : '0;
  wire [ALL-1:0] a_all = ALL'(a_d), b_all = ALL'(b_d);
  logic [ROWS-1:0] a_at, b_at;
  logic [17:0] a_given [0:COLUMNS-1], b_given [0:COLUMNS-1];
  logic [17:0] a_found [0:ROWS-1][0:COLUMNS-1], b_found [0:ROWS-1][0:COLUMNS-1];
  logic [ALL-1:0] a_block, b_block;
  logic [RW-1:0] a_from, b_from;
  for (genvar c = 0; c < COLUMNS; c++) begin : g_column
    assign a_given[c] = 18'(a_all[c*SHAPE +: SHAPE]);
    assign b_given[c] = 18'(b_all[c*SHAPE +: SHAPE]);
    assign a_block[c*SHAPE +: SHAPE] = a_found[a_from][c][SHAPE-1:0];
    assign b_block[c*SHAPE +: SHAPE] = b_found[b_from][c][SHAPE-1:0];
  end
  for (genvar r = 0; r < ROWS; r++) begin : g_row
    assign a_at[r] = a_en & a_row == RW'(unsigned'(r));
    assign b_at[r] = b_en & b_row == RW'(unsigned'(r));
    for (genvar c = 0; c < COLUMNS; c++) begin : g_block
      DP16KD #(
        .DATA_WIDTH_A(SHAPE), .DATA_WIDTH_B(SHAPE), .REGMODE_A("NOREG"), .REGMODE_B("NOREG"), .RESETMODE("SYNC"),
        .CSDECODE_A("0b000"), .CSDECODE_B("0b000"), .WRITEMODE_A("READBEFOREWRITE"), .WRITEMODE_B("READBEFOREWRITE")
      ) block (
        .CLKA(clk), .CEA(a_at[r]), .OCEA(1'b1), .WEA(a_writes), .RSTA(1'b0), .CSA0(1'b0), .CSA1(1'b0), .CSA2(1'b0),
        .ADA0(a_place[0]), .ADA1(a_place[1]), .ADA2(a_place[2]),
        .ADA3(a_place[3]), .ADA4(a_place[4]), .ADA5(a_place[5]),
        .ADA6(a_place[6]), .ADA7(a_place[7]), .ADA8(a_place[8]),
        .ADA9(a_place[9]), .ADA10(a_place[10]), .ADA11(a_place[11]),
        .ADA12(a_place[12]), .ADA13(a_place[13]),
        .DIA0(a_given[c][0]), .DIA1(a_given[c][1]), .DIA2(a_given[c][2]),
        .DIA3(a_given[c][3]), .DIA4(a_given[c][4]), .DIA5(a_given[c][5]),
        .DIA6(a_given[c][6]), .DIA7(a_given[c][7]), .DIA8(a_given[c][8]),
        .DIA9(a_given[c][9]), .DIA10(a_given[c][10]), .DIA11(a_given[c][11]),
        .DIA12(a_given[c][12]), .DIA13(a_given[c][13]), .DIA14(a_given[c][14]),
        .DIA15(a_given[c][15]), .DIA16(a_given[c][16]), .DIA17(a_given[c][17]),
        .DOA0(a_found[r][c][0]), .DOA1(a_found[r][c][1]), .DOA2(a_found[r][c][2]),
        .DOA3(a_found[r][c][3]), .DOA4(a_found[r][c][4]), .DOA5(a_found[r][c][5]),
        .DOA6(a_found[r][c][6]), .DOA7(a_found[r][c][7]), .DOA8(a_found[r][c][8]),
        .DOA9(a_found[r][c][9]), .DOA10(a_found[r][c][10]), .DOA11(a_found[r][c][11]),
        .DOA12(a_found[r][c][12]), .DOA13(a_found[r][c][13]), .DOA14(a_found[r][c][14]),
        .DOA15(a_found[r][c][15]), .DOA16(a_found[r][c][16]), .DOA17(a_found[r][c][17]),
        .CLKB(clk), .CEB(b_at[r]), .OCEB(1'b1), .WEB(b_writes), .RSTB(1'b0), .CSB0(1'b0), .CSB1(1'b0), .CSB2(1'b0),
        .ADB0(b_place[0]), .ADB1(b_place[1]), .ADB2(b_place[2]),
        .ADB3(b_place[3]), .ADB4(b_place[4]), .ADB5(b_place[5]),
        .ADB6(b_place[6]), .ADB7(b_place[7]), .ADB8(b_place[8]),
        .ADB9(b_place[9]), .ADB10(b_place[10]), .ADB11(b_place[11]),
        .ADB12(b_place[12]), .ADB13(b_place[13]),
        .DIB0(b_given[c][0]), .DIB1(b_given[c][1]), .DIB2(b_given[c][2]),
        .DIB3(b_given[c][3]), .DIB4(b_given[c][4]), .DIB5(b_given[c][5]),
        .DIB6(b_given[c][6]), .DIB7(b_given[c][7]), .DIB8(b_given[c][8]),
        .DIB9(b_given[c][9]), .DIB10(b_given[c][10]), .DIB11(b_given[c][11]),
        .DIB12(b_given[c][12]), .DIB13(b_given[c][13]), .DIB14(b_given[c][14]),
        .DIB15(b_given[c][15]), .DIB16(b_given[c][16]), .DIB17(b_given[c][17]),
        .DOB0(b_found[r][c][0]), .DOB1(b_found[r][c][1]), .DOB2(b_found[r][c][2]),
        .DOB3(b_found[r][c][3]), .DOB4(b_found[r][c][4]), .DOB5(b_found[r][c][5]),
        .DOB6(b_found[r][c][6]), .DOB7(b_found[r][c][7]), .DOB8(b_found[r][c][8]),
        .DOB9(b_found[r][c][9]), .DOB10(b_found[r][c][10]), .DOB11(b_found[r][c][11]),
        .DOB12(b_found[r][c][12]), .DOB13(b_found[r][c][13]), .DOB14(b_found[r][c][14]),
        .DOB15(b_found[r][c][15]), .DOB16(b_found[r][c][16]), .DOB17(b_found[r][c][17]));
    end
  end
  // what a port takes of the other one it keeps while it stands still
  logic a_other, b_other, a_has, b_has;
  logic [W-1:0] a_kept, b_kept;
  wire [W-1:0] a_read = a_has ? a_kept : a_other ? b_block[W-1:0] : a_block[W-1:0];
  wire [W-1:0] b_read = b_has ? b_kept : b_other ? a_block[W-1:0] : b_block[W-1:0];
  always_ff @(posedge clk) begin
    if (a_en) begin
      a_from <= a_row; a_other <= same & b_we; a_has <= 0;
    end else if (b_en) begin
      a_has <= 1; a_kept <= a_read;
    end
    if (b_en) begin
      b_from <= b_row; b_other <= same & a_we & ~b_we; b_has <= 0;
    end else if (a_en) begin
      b_has <= 1; b_kept <= b_read;
    end
  end
  allo_pipe #(W, READ_LATENCY - 1) a_behind (.clk, .en(a_en), .d(a_read), .q(a_q));
  allo_pipe #(W, READ_LATENCY - 1) b_behind (.clk, .en(b_en), .d(b_read), .q(b_q));
endmodule

// A block of 18 Kb, for tools that read the text before they know the device.
(* blackbox *)
module DP16KD #(
  parameter DATA_WIDTH_A = 18, parameter DATA_WIDTH_B = 18, parameter REGMODE_A = "NOREG",
  parameter REGMODE_B = "NOREG", parameter RESETMODE = "SYNC", parameter CSDECODE_A = "0b000", parameter CSDECODE_B = "0b000",
  parameter WRITEMODE_A = "NORMAL", parameter WRITEMODE_B = "NORMAL") (
  input logic CLKA, CEA, OCEA, WEA, RSTA, CSA0, CSA1, CSA2,
  input logic ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8,
    ADA9, ADA10, ADA11, ADA12, ADA13,
  input logic DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8,
    DIA9, DIA10, DIA11, DIA12, DIA13, DIA14, DIA15, DIA16, DIA17,
  output logic DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8,
    DOA9, DOA10, DOA11, DOA12, DOA13, DOA14, DOA15, DOA16, DOA17,
  input logic CLKB, CEB, OCEB, WEB, RSTB, CSB0, CSB1, CSB2,
  input logic ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8,
    ADB9, ADB10, ADB11, ADB12, ADB13,
  input logic DIB0, DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8,
    DIB9, DIB10, DIB11, DIB12, DIB13, DIB14, DIB15, DIB16, DIB17,
  output logic DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8,
    DOB9, DOB10, DOB11, DOB12, DOB13, DOB14, DOB15, DOB16, DOB17);
endmodule
