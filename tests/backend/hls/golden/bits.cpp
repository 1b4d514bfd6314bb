#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ap_int.h>

static int32_t bits_count = 3;

void bits(ap_uint<5> a, int8_t w, int32_t n, ap_uint<7> &result0, int32_t &result1) {  // designs.py:60
  ap_uint<7> x = ap_uint<6>(ap_int<6>(ap_int<6>(a) + 3));  // designs.py:62
  x.range(2, 1) = ap_uint<2>(a.range(1, 0));  // designs.py:63
  bits_count = bits_count + n;  // designs.py:64
  l_S_i_0_i: for (int i = 0; i < 4; i++) {  // designs.py:65
    if (w > 2 || i == 2) {
      x[0] = bool(x[3]);  // designs.py:67
      x[i] = bool(ap_uint<8>(uint8_t(w))[i + 1]);  // designs.py:68
    }
  }
  int32_t t = bits_count % 5;
  int32_t y = ap_int<17>(ap_int<17>(int16_t(int16_t(ap_int<15>(ap_int<15>(ap_uint<7>(x >> 2)) * w)) - int16_t(ap_uint<5>(a / 3)))) + ap_uint<3>(ap_int<3>(t < 0 ? t + 5 : t)));  // designs.py:69
  result0 = x;
  result1 = y;
}
