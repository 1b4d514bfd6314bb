# Simulation of what csyn.tcl has made, on the files in data/
open_project hls.prj
open_solution solution
cosim_design -rtl verilog -argv [file normalize data]
exit
