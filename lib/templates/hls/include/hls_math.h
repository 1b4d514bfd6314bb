// Decides the functions of `hls::`: those of the C library for float and double, for half through float. Some have the
// bits that kernels define.
#ifndef ALLO_SIM_HLS_MATH_H
#define ALLO_SIM_HLS_MATH_H

#include <cmath>
#include <type_traits>

#include "allo_sim/elementary.h"
#include "ap_int.h"

namespace hls {

#define ALLO_SIM_FUNCTION(space, name)                                     \
  inline float name(float x) { return space::name(x); }                    \
  inline double name(double x) { return space::name(x); }                  \
  inline ::half name(::half x) { return ::half(space::name(float(x))); }   \
  template <class T, class = std::enable_if_t<std::is_integral<T>::value>> \
  inline double name(T x) { return space::name(double(x)); }
#define ALLO_SIM_OWN(name) ALLO_SIM_FUNCTION(allo_sim, name)
ALLO_SIM_OWN(exp)
ALLO_SIM_OWN(log)
ALLO_SIM_OWN(log2)
ALLO_SIM_OWN(log10)
ALLO_SIM_OWN(sin)
ALLO_SIM_OWN(cos)
ALLO_SIM_OWN(tan)
ALLO_SIM_OWN(tanh)
#undef ALLO_SIM_OWN

#define ALLO_SIM_UNARY(name) ALLO_SIM_FUNCTION(std, name)
ALLO_SIM_UNARY(exp2)
ALLO_SIM_UNARY(expm1)
ALLO_SIM_UNARY(log1p)
ALLO_SIM_UNARY(sqrt)
ALLO_SIM_UNARY(cbrt)
ALLO_SIM_UNARY(asin)
ALLO_SIM_UNARY(acos)
ALLO_SIM_UNARY(atan)
ALLO_SIM_UNARY(sinh)
ALLO_SIM_UNARY(cosh)
ALLO_SIM_UNARY(asinh)
ALLO_SIM_UNARY(acosh)
ALLO_SIM_UNARY(atanh)
ALLO_SIM_UNARY(erf)
ALLO_SIM_UNARY(erfc)
ALLO_SIM_UNARY(floor)
ALLO_SIM_UNARY(ceil)
ALLO_SIM_UNARY(round)
ALLO_SIM_UNARY(rint)
ALLO_SIM_UNARY(nearbyint)
ALLO_SIM_UNARY(trunc)
ALLO_SIM_UNARY(fabs)
#undef ALLO_SIM_UNARY
#undef ALLO_SIM_FUNCTION

#define ALLO_SIM_FUNCTION(space, name)                                \
  inline float name(float x, float y) { return space::name(x, y); }   \
  inline double name(double x, double y) { return space::name(x, y); } \
  inline ::half name(::half x, ::half y) { return ::half(space::name(float(x), float(y))); }
ALLO_SIM_FUNCTION(allo_sim, pow)
#define ALLO_SIM_BINARY(name) ALLO_SIM_FUNCTION(std, name)
ALLO_SIM_BINARY(fmin)
ALLO_SIM_BINARY(fmax)
ALLO_SIM_BINARY(fmod)
ALLO_SIM_BINARY(fdim)
ALLO_SIM_BINARY(hypot)
ALLO_SIM_BINARY(atan2)
ALLO_SIM_BINARY(copysign)
#undef ALLO_SIM_BINARY
#undef ALLO_SIM_FUNCTION

inline float recip(float x) { return 1.0f / x; }
inline double recip(double x) { return 1.0 / x; }
inline ::half recip(::half x) { return ::half(1) / x; }
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline ::half rsqrt(::half x) { return ::half(1.0f / std::sqrt(float(x))); }

inline float fma(float x, float y, float z) { return std::fma(x, y, z); }
inline double fma(double x, double y, double z) { return std::fma(x, y, z); }
/// The product is exact in float and the sum is in double, which is enough to round once.
inline ::half fma(::half x, ::half y, ::half z) {
  return ::half(double(float(x)) * double(float(y)) + double(float(z)));
}

#define ALLO_SIM_TEST(name)                                         \
  inline bool name(float x) { return std::name(x); }                \
  inline bool name(double x) { return std::name(x); }               \
  inline bool name(::half x) { return std::name(float(x)); }
ALLO_SIM_TEST(isnan)
ALLO_SIM_TEST(isinf)
ALLO_SIM_TEST(isfinite)
ALLO_SIM_TEST(signbit)
#undef ALLO_SIM_TEST

inline float abs(float x) { return std::fabs(x); }
inline double abs(double x) { return std::fabs(x); }
inline ::half abs(::half x) { return ::half::from_bits(std::uint16_t(x.get_bits() & 0x7fff)); }
template <class T, class = std::enable_if_t<std::is_integral<T>::value>>
inline T abs(T x) {
  return x < T(0) ? T(-x) : x;
}
/// As wide as the number: the absolute value of the least number is that number itself.
template <int W, bool S>
inline allo_sim::integer<W, S> abs(const allo_sim::integer<W, S> &x) {
  return x.is_neg() ? allo_sim::integer<W, S>(-x) : x;
}

template <class T>
inline T max(const T &x, const T &y) {
  return x < y ? y : x;
}
template <class T>
inline T min(const T &x, const T &y) {
  return y < x ? y : x;
}

// The C names of the float functions.
#define ALLO_SIM_FLOAT(name) \
  inline float name##f(float x) { return name(x); }
ALLO_SIM_FLOAT(exp)
ALLO_SIM_FLOAT(log)
ALLO_SIM_FLOAT(sqrt)
ALLO_SIM_FLOAT(sin)
ALLO_SIM_FLOAT(cos)
ALLO_SIM_FLOAT(tan)
ALLO_SIM_FLOAT(tanh)
ALLO_SIM_FLOAT(floor)
ALLO_SIM_FLOAT(ceil)
ALLO_SIM_FLOAT(fabs)
#undef ALLO_SIM_FLOAT
inline float powf(float x, float y) { return pow(x, y); }

}  // namespace hls

#endif
