# The project of the tool, read by the scripts of the steps
open_project -reset hls.prj
set_top gemm_top
foreach file {kernel.cpp} { add_files $file -cflags "-std=c++17 -fwrapv" }
add_files -tb testbench.cpp -cflags "-std=c++17 -fwrapv"
open_solution -reset -flow_target vitis solution
set_part {xcu280-fsvh2892-2L-e}
create_clock -period 4 -name default
source operators.tcl
