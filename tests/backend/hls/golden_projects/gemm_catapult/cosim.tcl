# Simulation of the RTL that csyn.tcl has made, by the testbench, on the files in data/
if {[catch {
  project load Catapult.ccs
  go extract
  flow run /SCVerify/launch_make ./scverify/Verify_rtl_v_msim.mk {} SIMTOOL=msim sim
} message]} {
  puts stderr $message
  exit 1
}
exit
