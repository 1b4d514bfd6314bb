# Placement and routing of what csyn.tcl has made, as an IP
open_project hls.prj
open_solution solution
export_design -flow impl -rtl verilog -format ip_catalog
exit
