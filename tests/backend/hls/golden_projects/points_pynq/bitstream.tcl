# A block design of the kernel and the processing system, and its bitstream: points_top.bit, points_top.hwh
create_project -force points_top vivado.prj -part {xc7z020clg400-1}
set_property ip_repo_paths [file normalize hls.prj/solution/impl/ip] [current_project]
update_ip_catalog
create_bd_design design_1
source processing_system.tcl

set kernel [create_bd_cell -type ip -vlnv xilinx.com:hls:points_top allo_kernel]
set reset [create_bd_cell -type ip -vlnv xilinx.com:ip:proc_sys_reset reset]
set control [create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect control]
set_property -dict [list CONFIG.NUM_SI {1} CONFIG.NUM_MI {1}] $control
set memory [create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect memory]
set_property -dict [list CONFIG.NUM_SI {1} CONFIG.NUM_MI {1}] $memory

connect_bd_intf_net [get_bd_intf_pins $ps_control] [get_bd_intf_pins control/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins control/M00_AXI] [get_bd_intf_pins allo_kernel/s_axi_control]
set position 0
foreach bundle {gmem0} {
  connect_bd_intf_net [get_bd_intf_pins allo_kernel/m_axi_$bundle] [get_bd_intf_pins memory/[format S%02d_AXI $position]]
  incr position
}
connect_bd_intf_net [get_bd_intf_pins memory/M00_AXI] [get_bd_intf_pins $ps_memory]

connect_bd_net [get_bd_pins $ps_reset] [get_bd_pins reset/ext_reset_in]
foreach pin [concat $ps_clocked {reset/slowest_sync_clk allo_kernel/ap_clk control/aclk memory/aclk}] {
  connect_bd_net [get_bd_pins $ps_clock] [get_bd_pins $pin]
}
foreach pin {allo_kernel/ap_rst_n control/aresetn memory/aresetn} {
  connect_bd_net [get_bd_pins reset/peripheral_aresetn] [get_bd_pins $pin]
}
assign_bd_address
validate_bd_design
save_bd_design

set wrapper [make_wrapper -files [get_files design_1.bd] -top]
add_files -norecurse $wrapper
set_property top design_1_wrapper [current_fileset]
launch_runs impl_1 -to_step write_bitstream
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] != "100%"} { error "the implementation failed: see vivado.prj" }
file copy -force vivado.prj/points_top.runs/impl_1/design_1_wrapper.bit points_top.bit
file copy -force [lindex [glob vivado.prj/points_top.gen/sources_1/bd/design_1/hw_handoff/design_1.hwh] 0] points_top.hwh
