// What a shell does from `start` to `done`, a pulse each: it loads, runs the kernel and stores. `loaded` and `stored`
// say that a phase has ended, from the cycle after its first one on; `ran` is the pulse of the kernel.
module allo_phases (
  input logic clk, input logic rst, input logic start, input logic loaded, input logic ran, input logic stored,
  output logic load, output logic run, output logic store, output logic done, output logic idle);
  typedef enum logic [1:0] {IDLE, LOAD, RUN, STORE} phase_t;
  phase_t phase;
  assign idle = phase == IDLE;
  always_ff @(posedge clk)
    if (rst) begin
      phase <= IDLE; load <= 0; run <= 0; store <= 0; done <= 0;
    end else begin
      load <= phase == IDLE && start;
      run <= phase == LOAD && !load && loaded;
      store <= phase == RUN && ran;
      done <= phase == STORE && !store && stored;
      case (phase)
        IDLE: if (start) phase <= LOAD;
        LOAD: if (!load && loaded) phase <= RUN;
        RUN: if (ran) phase <= STORE;
        STORE: if (!store && stored) phase <= IDLE;
        default: phase <= IDLE;
      endcase
    end
`ifdef ALLO_SIMULATION
  // The cycle now, and those in which the shell, the kernel and storing began, and all ended.
  localparam int W = 64, DEPTH = 5;
  logic [W-1:0] seen [0:DEPTH-1];
  always_ff @(posedge clk) begin
    seen[0] <= seen[0] + 1'b1;
    if (idle && start) seen[1] <= seen[0];
    if (run) seen[2] <= seen[0];
    if (phase == RUN && ran) seen[3] <= seen[0];
    if (done) seen[4] <= seen[0];
  end
`endif
endmodule
