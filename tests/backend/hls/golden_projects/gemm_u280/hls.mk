# The steps of the project; README.md says what they need and make.
# Arrays on chip are on the stack of a simulation, which may be small.
BIG_STACK := ulimit -s unlimited 2>/dev/null || true;

.PHONY: csim csyn cosim impl

csim: data
	$(BIG_STACK) $(HLS) csim.tcl

csyn: $(REPORT)

$(REPORT): kernel.cpp kernel.h project.tcl $(wildcard operators.tcl) csyn.tcl
	$(HLS) csyn.tcl
	test -f $@

cosim: $(REPORT)
	$(BIG_STACK) $(HLS) cosim.tcl

impl: $(REPORT)
	$(HLS) impl.tcl
