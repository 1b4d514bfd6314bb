# The project of the tool, read by the scripts of the steps
open_project -reset hls.prj
set_top @TOP@
foreach file {@UNITS@} { add_files $file -cflags "@FLAGS@" }
add_files -tb testbench.cpp -cflags "@FLAGS@"
open_solution -reset -flow_target @FLOW@ solution
set_part {@PART@}
create_clock -period @PERIOD@ -name default
source operators.tcl
