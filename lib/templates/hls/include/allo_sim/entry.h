// What a kernel gives to its simulation.
#ifndef ALLO_SIM_ENTRY_H
#define ALLO_SIM_ENTRY_H

#include <cstddef>

namespace allo_sim {

/// Calls the kernel with the memory of NumPy arrays: each argument, then each result.
void call(void **memory);

/// How large the stack of a process is.
std::size_t stack_bytes();

}  // namespace allo_sim

#endif
