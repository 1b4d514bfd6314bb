#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ap_int.h>

void histogram(uint8_t keys[16], uint16_t wanted, int32_t counts[16], int32_t &result1) {  // designs.py:111
  l_counts_init_0: for (int counts_init_0 = 0; counts_init_0 < 16; counts_init_0++) {
    counts[counts_init_0] = 0;  // designs.py:112
  }
  int32_t bins[16];
#pragma HLS array_partition variable=bins cyclic dim=1 factor=2
#pragma HLS bind_storage variable=bins type=ram_2p impl=bram
  l_bins_init_0: for (int bins_init_0 = 0; bins_init_0 < 16; bins_init_0++) {
    bins[bins_init_0] = 0;  // designs.py:113
  }
  l_count_i: for (int i = 0; i < 16; i++) {  // designs.py:114
#pragma HLS pipeline II=2
    bins[int(ap_uint<5>(uint8_t(keys[i] % 16)))] = bins[int(ap_uint<5>(uint8_t(keys[i] % 16)))] + 1;  // designs.py:115
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
