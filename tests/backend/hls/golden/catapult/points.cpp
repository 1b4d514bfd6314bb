#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ac_int.h>
#include <ac_fixed.h>

struct struct_0 {
  int32_t x;
  ac_fixed<8, 4, true> weight;
};

// quotient rounded toward minus infinity
template <typename T> static inline T floor_div(T lhs, T rhs) {
  T quotient = T(lhs / rhs);
  return (T(lhs % rhs) != 0 && (lhs < 0) != (rhs < 0)) ? T(quotient - 1) : quotient;
}

// the fixed-point number with these bits
template <typename T, int W> static inline T from_bits(ac_int<W, false> bits) {
  T value = 0;
  value.set_slc(0, bits);
  return value;
}

// the bits of a fixed-point number as an integer of its sign
template <int N, int W, int I, bool S, ac_q_mode Q, ac_o_mode O>
static inline ac_int<N, true> integer_of(const ac_fixed<W, I, S, Q, O> &value) {
  return ac_int<N, true>(ac_int<W, S>(value.template slc<W>(0)));
}

// quotient of fixed-point numbers of type T with W bits, rounded toward minus infinity: N bits hold the dividend and
// the divisor as integers, F is the number of bits behind the point of the divisor
template <typename T, int W, int N, int F, typename L, typename R> static inline T fixed_div(L lhs, R rhs) {
  ac_int<N, true> dividend = integer_of<N>(lhs);
  ac_int<N, true> divisor = integer_of<N>(rhs);
  ac_int<N, true> quotient = floor_div<ac_int<N, true>>(ac_int<N, true>(dividend << F), divisor);
  return from_bits<T, W>(ac_int<W, false>(quotient));
}

#pragma hls_design top
ac_fixed<8, 6, true, AC_RND, AC_SAT> points(struct_0 ps[4], ac_fixed<6, 3, false> by) {  // designs.py:73
  ac_fixed<8, 6, true, AC_RND, AC_SAT> total = ac_fixed<8, 6, true, AC_RND, AC_SAT>(ac_fixed<8, 6, true>(0.0));  // designs.py:74
  l_S_i_0_i: for (int i = 0; i < 4; i++) {  // designs.py:75
    ps[i] = struct_0{ps[i].x + i, ps[i].weight};  // designs.py:76
    ps[i] = struct_0{ps[i].x, ac_fixed<8, 4, true>(ps[i].weight * by)};  // designs.py:77
    total = ac_fixed<11, 7, true>(ac_fixed<11, 7, true>(total) + ac_fixed<11, 7, true>(fixed_div<ac_fixed<8, 4, true>, 8, 10, 0>(ps[i].weight, ac_fixed<2, 2, false>(3.0))));  // designs.py:78
  }
  return total;
}
