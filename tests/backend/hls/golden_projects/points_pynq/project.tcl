# The project of the tool, read by the scripts of the steps
open_project -reset hls.prj
set_top points_top
foreach file {kernel.cpp} { add_files $file -cflags "-std=c++17 -fwrapv" }
add_files -tb testbench.cpp -cflags "-std=c++17 -fwrapv"
open_solution -reset -flow_target vivado solution
set_part {xc7z020clg400-1}
create_clock -period 10 -name default
source operators.tcl
