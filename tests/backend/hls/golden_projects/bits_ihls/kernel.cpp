#include "kernel.h"

static int32_t bits_count = 3;

component void bits(ac_int<5, false> a, int8_t w, int32_t n, ac_int<7, false> &result0, int32_t &result1) {  // designs.py:60
  ac_int<7, false> x = ac_int<6, false>(ac_int<6, true>(ac_int<6, true>(a) + 3));  // designs.py:62
  x.set_slc(1, ac_int<2, false>(a.slc<2>(0)));  // designs.py:63
  bits_count = bits_count + n;  // designs.py:64
  l_S_i_0_i: for (int i = 0; i < 4; i++) {  // designs.py:65
    if (w > 2 || i == 2) {
      x[0] = bool(x[3]);  // designs.py:67
      x[i] = bool(ac_int<8, false>(uint8_t(w))[i + 1]);  // designs.py:68
    }
  }
  int32_t t = bits_count % 5;
  int32_t y = ac_int<17, true>(ac_int<17, true>(int16_t(int16_t(ac_int<15, true>(ac_int<15, true>(ac_int<7, false>(x >> 2)) * w)) - int16_t(ac_int<5, false>(a / 3)))) + ac_int<3, false>(ac_int<3, true>(t < 0 ? t + 5 : t)));  // designs.py:69
  result0 = x;
  result1 = y;
}
