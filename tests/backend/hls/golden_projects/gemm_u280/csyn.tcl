# Synthesis; the report is hls.prj/solution/syn/report/csynth.xml
source project.tcl
csynth_design
exit
