# The IP of what csyn.tcl has made, in hls.prj/solution/impl/ip
open_project hls.prj
open_solution solution
export_design -rtl verilog -format ip_catalog
exit
