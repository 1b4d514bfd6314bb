#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <hls_half.h>
#include <hls_math.h>

// the upper half of a float; each operation is that of float, rounded to nearest, halves to even
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  bfloat16(float value) : bits(rounded(value)) {}
  bfloat16(double value) : bits(rounded(to_odd(value))) {}
  static bfloat16 of(uint16_t bits) {
    bfloat16 value;
    value.bits = bits;
    return value;
  }
  operator float() const {
    union { uint32_t bits; float number; } both;
    both.bits = uint32_t(bits) << 16;
    return both.number;
  }

  friend bfloat16 operator+(bfloat16 lhs, bfloat16 rhs) { return float(lhs) + float(rhs); }
  friend bfloat16 operator-(bfloat16 lhs, bfloat16 rhs) { return float(lhs) - float(rhs); }
  friend bfloat16 operator*(bfloat16 lhs, bfloat16 rhs) { return float(lhs) * float(rhs); }
  friend bfloat16 operator/(bfloat16 lhs, bfloat16 rhs) { return float(lhs) / float(rhs); }
  friend bfloat16 operator-(bfloat16 value) { return of(value.bits ^ 0x8000); }

private:
  static uint32_t bits_of_float(float value) {
    union { float number; uint32_t bits; } both;
    both.number = value;
    return both.bits;
  }
  static uint16_t rounded(float value) {
    uint32_t whole = bits_of_float(value);
    if (value != value) { return uint16_t(whole >> 16 | 0x40); }
    return uint16_t((whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  // toward zero, with the last digit set if something is lost, so that the next step rounds as if it were the only one
  static float to_odd(double value) {
    union { float number; uint32_t bits; } both;
    both.number = float(value);
    if (value == value && double(both.number) != value) {
      bool above = (value > 0) == (double(both.number) > value);
      both.bits = (both.bits - uint32_t(above)) | 1;
    }
    return both.number;
  }
};

// a float as a signed integer of W bits, toward zero: the nearest one if it does not fit, 0 for NaN; bound is 2**(W - 1)
template <typename T, int W, typename M = T, typename F> static inline T to_signed(F value, F bound) {
#pragma HLS inline
  const T least = T(T(1) << (W - 1));
  if (value >= bound) { return T(~least); }
  if (value > -bound) { return T(M(value)); }
  return value <= -bound ? least : T(0);
}

// a float as an unsigned integer, toward zero: the nearest one if it does not fit, 0 for NaN; bound is 2**W
template <typename T, int W, typename M = T, typename F> static inline T to_unsigned(F value, F bound) {
#pragma HLS inline
  if (value >= bound) { return T(~T(0)); }
  return value > 0 ? T(M(value)) : T(0);
}

void floats(float x[8], half scale, bfloat16 half_[8], uint8_t level[8], int32_t &result2) {  // designs.py:99
#pragma HLS array_partition variable=half_ complete dim=1
  l_half_init_0: for (int half_init_0 = 0; half_init_0 < 8; half_init_0++) {
    half_[half_init_0] = bfloat16(0.0f);  // designs.py:100
  }
  l_level_init_0: for (int level_init_0 = 0; level_init_0 < 8; level_init_0++) {
    level[level_init_0] = 0;  // designs.py:101
  }
  float most = x[0];  // designs.py:102
  l_S_i_0_i: for (int i = 0; i < 8; i++) {  // designs.py:103
#pragma HLS unroll factor=2
    half_[i] = x[i] * float(scale);  // designs.py:104
    level[i] = to_unsigned<uint8_t, 8>(x[i] * 100.0f, 256.0f);  // designs.py:105
    float t = most;
    float t_1 = half_[i] / bfloat16(3.0f);
    most = t_1 > t ? t_1 : t;  // designs.py:106
  }
  int32_t whole = to_signed<int32_t, 32>(hls::exp(most), 2.1474836e+09f);  // designs.py:107
  result2 = whole;
}
