# The processing system of Zynq-7000: its ports, its clock and its reset. The board has set up its memory when it booted.
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:processing_system7 ps]
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 -config {make_external "FIXED_IO, DDR"} $ps
set_property -dict [list \
  CONFIG.PCW_USE_M_AXI_GP0 {1} \
  CONFIG.PCW_USE_S_AXI_HP0 {1} \
  CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ {100} \
] $ps
set ps_clock ps/FCLK_CLK0
set ps_reset ps/FCLK_RESET0_N
set ps_control ps/M_AXI_GP0
set ps_memory ps/S_AXI_HP0
set ps_clocked {ps/M_AXI_GP0_ACLK ps/S_AXI_HP0_ACLK}
