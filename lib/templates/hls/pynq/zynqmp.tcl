# The processing system of Zynq UltraScale+: its ports, its clock and its reset
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps]
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e $ps
set_property -dict [list \
  CONFIG.PSU__USE__M_AXI_GP0 {1} \
  CONFIG.PSU__USE__M_AXI_GP1 {0} \
  CONFIG.PSU__USE__M_AXI_GP2 {0} \
  CONFIG.PSU__USE__S_AXI_GP2 {1} \
  CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ {@FREQUENCY@} \
] $ps
set ps_clock ps/pl_clk0
set ps_reset ps/pl_resetn0
set ps_control ps/M_AXI_HPM0_FPD
set ps_memory ps/S_AXI_HP0_FPD
set ps_clocked {ps/maxihpm0_fpd_aclk ps/saxihp0_fpd_aclk}
