#include "ap_int.h"

typedef ap_int<5> small_t;
using row_t = ap_uint<12>[3];

void double_all(const small_t A[2][3], small_t B[2][3], row_t &C, ap_int<100> &wide, ap_uint<1> flag) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      B[i][j] = A[i][j] * 2;
  for (auto &x : C)
    x = x + 1;
  wide = (__int128)wide * (flag ? -3 : 1);
}

ap_int<7> sum(ap_int<7> *values, ap_int<7> start) {
  return values[0] + values[1] + start;
}
