// The kernel, and what its simulation (allo_sim/entry.cpp) asks of it.
#include "kernel.cpp"

#include "call.h"

#include <allo_sim/entry.h>

void allo_sim::call(void **memory) { call_kernel(memory); }

std::size_t allo_sim::stack_bytes() { return @STACK@; }
