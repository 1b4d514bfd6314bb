# Synthesis; the reports are in Catapult/gemm.v1
if {[catch {
  source project.tcl
  go assembly
  source directives.tcl
  go architect
  go allocate
  go extract
  project save
} message]} {
  puts stderr $message
  exit 1
}
exit
