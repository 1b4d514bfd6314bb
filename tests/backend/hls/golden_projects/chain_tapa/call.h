// Calls the kernel with arguments in memory, one block each, in their order: in a binary, or as C++ if there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernel.h"

// how long the kernel ran, in ns
static inline int64_t call_kernel(void **memory, const std::string &binary = "") {
  (void)memory;
  std::vector<int32_t, tapa::aligned_allocator<int32_t>> value0(64);
  std::memcpy(value0.data(), memory[0], 64 * sizeof(int32_t));
  std::vector<int32_t, tapa::aligned_allocator<int32_t>> value1(64);
  std::memcpy(value1.data(), memory[1], 64 * sizeof(int32_t));
  const int64_t nanoseconds = tapa::invoke(::chain, binary, tapa::read_only_mmap<int32_t>(reinterpret_cast<int32_t *>(value0.data()), 64), tapa::read_write_mmap<int32_t>(reinterpret_cast<int32_t *>(value1.data()), 64));
  std::memcpy(memory[1], value1.data(), 64 * sizeof(int32_t));
  return nanoseconds;
}
