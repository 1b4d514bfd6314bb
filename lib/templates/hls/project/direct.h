// Calls the kernel with arguments in memory, one block each, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernel.h"
@FUNCTIONS@static inline void call_kernel(void **memory) {
  (void)memory;
@BODY@
}
