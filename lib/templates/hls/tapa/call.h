// Calls the kernel with arguments in memory, one block each, in their order: in a binary, or as C++ if there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernel.h"
@FUNCTIONS@// how long the kernel ran, in ns
static inline int64_t call_kernel(void **memory, const std::string &binary = "") {
  (void)memory;
@BODY@
  return nanoseconds;
}
