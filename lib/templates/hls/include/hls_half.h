// Decides what `half` is: IEEE 754 binary16, each operation rounded to nearest, halves to even.
#ifndef ALLO_SIM_HLS_HALF_H
#define ALLO_SIM_HLS_HALF_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <limits>
#include <type_traits>

namespace allo_sim {

inline std::uint32_t float_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Faster by bits than by `_Float16` where the hardware does not convert.

/// The bits of the half nearest to `value`.
inline std::uint16_t half_bits(float value) {
  const std::uint32_t bits = float_bits(value);
  const auto sign = std::uint16_t(bits >> 16 & 0x8000);
  const std::uint32_t absolute = bits & 0x7fffffff;
  if (absolute >= 0x47800000) return std::uint16_t(sign | (absolute > 0x7f800000 ? 0x7e00 : 0x7c00));  // 2**16
  // Below 2**-14 the last digit is 2**-24, which is also that of the sum with 0.5: the addition rounds.
  if (absolute < 0x38800000) return std::uint16_t(sign | (float_bits(float_of(absolute) + 0.5f) - float_bits(0.5f)));
  const std::uint32_t odd = absolute >> 13 & 1;
  return std::uint16_t(sign | ((absolute - (112u << 23) + 0xfff + odd) >> 13));
}

/// The same, rounded once, of what a float may not hold.
inline std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double absolute = std::fabs(value);
  if (std::isnan(value)) return std::uint16_t(sign | 0x7e00);
  if (absolute == 0.0) return sign;
  if (absolute >= 65520.0) return std::uint16_t(sign | 0x7c00);
  int exponent = 0;
  std::frexp(absolute, &exponent);
  const int least = exponent < -13 ? -24 : exponent - 11;  // exponent of the last digit
  const auto mantissa = std::uint32_t(std::nearbyint(std::ldexp(absolute, -least)));
  // A mantissa that rounds up to 2**11 carries into the exponent, which is the next number.
  return std::uint16_t(sign | (exponent < -13 ? mantissa : (std::uint32_t(exponent + 14) << 10) + mantissa - 0x400));
}

inline float half_value(std::uint16_t bits) {
  const float scaled = float_of(std::uint32_t(bits & 0x7fff) << 13) * 0x1p112f;
  const std::uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
  return float_of(float_bits(scaled) | special | std::uint32_t(bits & 0x8000) << 16);
}

}  // namespace allo_sim

/// Sums, products and quotients of two halves are computed in float and rounded once more, which is exact rounding:
/// float has more than twice the digits of half and two.
class half {
 public:
  half() = default;
  half(double value) : bits_(allo_sim::half_bits(value)) {}
  half(long double value) : half(double(value)) {}
  /// Integers that float does not hold are infinite here anyway.
  template <class T, class = std::enable_if_t<std::is_integral<T>::value || std::is_same<T, float>::value>>
  half(T value) : bits_(allo_sim::half_bits(float(value))) {}

  operator float() const { return allo_sim::half_value(bits_); }

  static half from_bits(std::uint16_t bits) {
    half value;
    value.bits_ = bits;
    return value;
  }
  std::uint16_t get_bits() const { return bits_; }
  std::uint16_t to_bits() const { return bits_; }

  half &operator+=(half other) { return *this = half(float(*this) + float(other)); }
  half &operator-=(half other) { return *this = half(float(*this) - float(other)); }
  half &operator*=(half other) { return *this = half(float(*this) * float(other)); }
  half &operator/=(half other) { return *this = half(float(*this) / float(other)); }
  half operator+() const { return *this; }
  half operator-() const { return from_bits(std::uint16_t(bits_ ^ 0x8000)); }
  half &operator++() { return *this += half(1); }
  half &operator--() { return *this -= half(1); }
  half operator++(int) {
    const half before = *this;
    ++*this;
    return before;
  }
  half operator--(int) {
    const half before = *this;
    --*this;
    return before;
  }

 private:
  std::uint16_t bits_ = 0;
};

namespace allo_sim {

/// The type of `half op T`: half beside integers, else the wider float.
template <class T>
using beside_half = std::conditional_t<std::is_floating_point<T>::value, T, half>;
template <class T>
using if_arithmetic = std::enable_if_t<std::is_arithmetic<T>::value>;

}  // namespace allo_sim

#define ALLO_SIM_HALF(op)                                                                             \
  inline half operator op(half a, half b) { return half(float(a) op float(b)); }                       \
  template <class T, class = allo_sim::if_arithmetic<T>>                                              \
  inline allo_sim::beside_half<T> operator op(half a, T b) {                                          \
    return allo_sim::beside_half<T>(a) op allo_sim::beside_half<T>(b);                                \
  }                                                                                                   \
  template <class T, class = allo_sim::if_arithmetic<T>>                                              \
  inline allo_sim::beside_half<T> operator op(T a, half b) {                                          \
    return allo_sim::beside_half<T>(a) op allo_sim::beside_half<T>(b);                                \
  }
ALLO_SIM_HALF(+)
ALLO_SIM_HALF(-)
ALLO_SIM_HALF(*)
ALLO_SIM_HALF(/)
#undef ALLO_SIM_HALF

#define ALLO_SIM_HALF(op)                                                                             \
  inline bool operator op(half a, half b) { return float(a) op float(b); }                             \
  template <class T, class = allo_sim::if_arithmetic<T>>                                              \
  inline bool operator op(half a, T b) {                                                              \
    return allo_sim::beside_half<T>(a) op allo_sim::beside_half<T>(b);                                \
  }                                                                                                   \
  template <class T, class = allo_sim::if_arithmetic<T>>                                              \
  inline bool operator op(T a, half b) {                                                              \
    return allo_sim::beside_half<T>(a) op allo_sim::beside_half<T>(b);                                \
  }
ALLO_SIM_HALF(==)
ALLO_SIM_HALF(!=)
ALLO_SIM_HALF(<)
ALLO_SIM_HALF(<=)
ALLO_SIM_HALF(>)
ALLO_SIM_HALF(>=)
#undef ALLO_SIM_HALF

template <class Char, class Traits>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, half value) {
  return out << float(value);
}

template <class Char, class Traits>
std::basic_istream<Char, Traits> &operator>>(std::basic_istream<Char, Traits> &in, half &value) {
  float read = 0;
  in >> read;
  value = half(read);
  return in;
}

template <>
class std::numeric_limits<half> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = 11;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -13;
  static constexpr int max_exponent = 16;
  static half min() { return half::from_bits(0x0400); }
  static half max() { return half::from_bits(0x7bff); }
  static half lowest() { return half::from_bits(0xfbff); }
  static half epsilon() { return half::from_bits(0x1400); }
  static half infinity() { return half::from_bits(0x7c00); }
  static half quiet_NaN() { return half::from_bits(0x7e00); }
  static half denorm_min() { return half::from_bits(0x0001); }
};

#endif
