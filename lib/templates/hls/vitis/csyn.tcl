# Synthesis of the kernel by Vitis HLS: vitis_hls -f csyn.tcl
open_project -reset csyn.prj
set_top @TOP@
add_files kernel.cpp -cflags "-std=c++17 -fwrapv"
add_files kernel.h
open_solution -reset solution
set_part {@PART@}
create_clock -period @PERIOD@ -name default
csynth_design
exit
