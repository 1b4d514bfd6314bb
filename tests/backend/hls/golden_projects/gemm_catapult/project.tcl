# The project of the tool: what is compiled, for which technology, at which clock
project new -name Catapult
solution new -state initial
solution options defaults
solution options set /Input/CppStandard c++17
flow package require /SCVerify
flow package option set /SCVerify/INVOKE_ARGS [file normalize data]
foreach file {kernel.cpp} { solution file add ./$file -type C++ }
solution file add ./testbench.cpp -type C++ -exclude true
go analyze
solution design set gemm -top
go compile

# libraries of technologies whose options are known; others are added by their name
array set technology {
  nangate-45nm_beh {-rtlsyntool DesignCompiler -vendor Nangate -technology 045nm}
}
set library {nangate-45nm_beh}
if {[info exists technology($library)]} {
  solution library add $library -- {*}$technology($library)
} else {
  solution library add $library
}
solution library add ccs_sample_mem
go libraries
directive set -CLOCKS {clk {-CLOCK_PERIOD 2}}
