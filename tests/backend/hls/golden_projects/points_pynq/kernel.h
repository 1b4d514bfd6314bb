#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ap_int.h>
#include <ap_fixed.h>

struct struct_0 {
  int32_t x;
  ap_fixed<8, 4> weight;
};

// quotient rounded toward minus infinity
template <typename T> static inline T floor_div(T lhs, T rhs) {
#pragma HLS inline
  T quotient = T(lhs / rhs);
  return (T(lhs % rhs) != 0 && (lhs < 0) != (rhs < 0)) ? T(quotient - 1) : quotient;
}

// the fixed-point number with these bits
template <typename T, int W> static inline T from_bits(ap_uint<W> bits) {
#pragma HLS inline
  T value = 0;
  value.range(W - 1, 0) = bits;
  return value;
}

// the bits of a fixed-point number as an integer of its sign
template <int N, int W, int I, ap_q_mode Q, ap_o_mode O>
static inline ap_int<N> integer_of(const ap_fixed<W, I, Q, O> &value) {
#pragma HLS inline
  return ap_int<N>(ap_int<W>(value.range(W - 1, 0)));
}
template <int N, int W, int I, ap_q_mode Q, ap_o_mode O>
static inline ap_int<N> integer_of(const ap_ufixed<W, I, Q, O> &value) {
#pragma HLS inline
  return ap_int<N>(ap_uint<W>(value.range(W - 1, 0)));
}

// quotient of fixed-point numbers of type T with W bits, rounded toward minus infinity: N bits hold the dividend and
// the divisor as integers, F is the number of bits behind the point of the divisor
template <typename T, int W, int N, int F, typename L, typename R> static inline T fixed_div(L lhs, R rhs) {
#pragma HLS inline
  ap_int<N> dividend = integer_of<N>(lhs);
  ap_int<N> divisor = integer_of<N>(rhs);
  ap_int<N> quotient = floor_div<ap_int<N>>(ap_int<N>(dividend << F), divisor);
  return from_bits<T, W>(ap_uint<W>(quotient));
}

extern "C" void points_top(uint64_t *ps, uint8_t by, uint8_t *result);
