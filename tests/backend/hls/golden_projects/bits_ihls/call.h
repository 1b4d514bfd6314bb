// Calls the kernel with arguments in memory, one block each, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernel.h"
#include <HLS/ac_int.h>

// the bits of element n of an array whose elements take B bits each
template <int W, int B> static ac_int<W, false> load_bits(const void *memory, std::size_t n) {
  const int S = B < 64 ? B : 64;
  const char *place = static_cast<const char *>(memory) + n * (B / 8);
  ac_int<B, false> whole = 0;
  for (int low = 0; low < B; low += 64) {
    uint64_t word = 0;
    std::memcpy(&word, place + low / 8, S / 8);
    whole.set_slc(low, ac_int<S, false>(word));
  }
  return ac_int<W, false>(whole);
}
template <int W, int B, bool S> static void store_bits(void *memory, std::size_t n, const ac_int<W, false> &bits) {
  const int R = B < 64 ? B : 64;
  char *place = static_cast<char *>(memory) + n * (B / 8);
  ac_int<B, false> whole = bits;
  if (S) { whole = ac_int<B, false>(ac_int<B, true>(ac_int<W, true>(bits))); }
  for (int low = 0; low < B; low += 64) {
    uint64_t word = ac_int<R, false>(whole.template slc<R>(low)).to_uint64();
    std::memcpy(place + low / 8, &word, R / 8);
  }
}

static inline void call_kernel(void **memory) {
  (void)memory;
  ac_int<5, false> value0;
  for (std::size_t n = 0; n < 1; n++) { value0 = load_bits<5, 8>(memory[0], n); }
  ac_int<7, false> value3;
  ::bits(value0, *reinterpret_cast<int8_t (*)>(memory[1]), *reinterpret_cast<int32_t (*)>(memory[2]), value3, *reinterpret_cast<int32_t (*)>(memory[4]));
  for (std::size_t n = 0; n < 1; n++) { store_bits<7, 8, false>(memory[3], n, value3); }
}
