#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ap_int.h>

static const uint32_t dot_W[2] = {67370497, uint32_t(4161210107LL)};

int32_t dot(uint32_t x[2], int32_t bias) {  // designs.py:91
  int32_t total = bias;  // designs.py:93
  l_S_i_0_i: for (int i = 0; i < 8; i++) {  // designs.py:94
#pragma HLS pipeline II=1
    int t = i % 4 * 8;
    int t_1 = i % 4 * 8;
    total = total + int32_t(int16_t(int16_t(int8_t(uint8_t(ap_uint<8>(ap_uint<32>(x[i / 4]).range(t + 8 - 1, t))))) * int16_t(int8_t(uint8_t(ap_uint<8>(ap_uint<32>(dot_W[i / 4]).range(t_1 + 8 - 1, t_1)))))));  // designs.py:95
  }
  return total;
}
