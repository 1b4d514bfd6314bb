# Simulation of the C++ by the tool, on the files in data/
source project.tcl
csim_design -argv [file normalize data]
exit
