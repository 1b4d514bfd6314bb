// Calls the kernel, or the RTL in its place, with arguments in memory, one block each, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <mc_scverify.h>

#include "kernel.h"

static inline void call_kernel(void **memory) {
  (void)memory;
  CCS_DESIGN(gemm)(*reinterpret_cast<float (*)[8][8]>(memory[0]), *reinterpret_cast<float (*)[8][8]>(memory[1]), *reinterpret_cast<float (*)[8][8]>(memory[2]));
}
