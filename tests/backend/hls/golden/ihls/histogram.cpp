#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <HLS/hls.h>
#include <HLS/ac_int.h>

component void histogram(uint8_t keys[16], uint16_t wanted, int32_t counts[16], int32_t &result1) {  // designs.py:111
  l_counts_init_0: for (int counts_init_0 = 0; counts_init_0 < 16; counts_init_0++) {
    counts[counts_init_0] = 0;  // designs.py:112
  }
  hls_memory hls_memory_impl("BLOCK_RAM") hls_bankwidth(4) hls_bankbits(0) int32_t bins[16];
  l_bins_init_0: for (int bins_init_0 = 0; bins_init_0 < 16; bins_init_0++) {
    bins[bins_init_0] = 0;  // designs.py:113
  }
  l_count_i:  // designs.py:114
#pragma ii 2
  for (int i = 0; i < 16; i++) {
    bins[int(ac_int<5, false>(uint8_t(keys[i] % 16)))] = bins[int(ac_int<5, false>(uint8_t(keys[i] % 16)))] + 1;  // designs.py:115
  }
  // parallel: the iterations are independent; s.unroll says how many run at once
  l_copy_i: for (int i = 0; i < 16; i++) {  // designs.py:116
    counts[i] = bins[i];  // designs.py:117
  }
  int32_t place = 0;  // designs.py:118
  int32_t total = 0;  // designs.py:119
  l_while: while (total < int32_t(wanted) && place < 16) {  // designs.py:120
    total = total + bins[place];  // designs.py:121
    place = place + 1;  // designs.py:122
  }
  result1 = place;
}
