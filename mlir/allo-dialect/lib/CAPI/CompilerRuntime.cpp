// What compiled code calls for lack of an instruction: division and conversion of 128-bit integers, and rounding to
// floats of 16 bits. A JIT does not find these functions in a Python process (libgcc_s is not in its global scope, and
// old ones lack some), so this library exports them under their usual names. None may use the operation it stands for.
#include <cstdint>
#include <cstring>

using Int = __int128;
using UInt = unsigned __int128;

#define ALLO_RUNTIME extern "C" __attribute__((visibility("default")))

namespace {
template <typename To, typename From> To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

uint64_t high(UInt value) { return static_cast<uint64_t>(value >> 64); }
uint64_t low(UInt value) { return static_cast<uint64_t>(value); }
unsigned leadingZeros(UInt value) {
  return high(value) ? __builtin_clzll(high(value)) : 64 + __builtin_clzll(low(value));
}
UInt magnitude(Int value) { return value < 0 ? -static_cast<UInt>(value) : static_cast<UInt>(value); }

//===-- division ---------------------------------------------------------===//

struct Division {
  UInt quotient, remainder;
};

Division divide(UInt dividend, UInt divisor) {
  if (!high(dividend) && !high(divisor) && divisor)
    return {low(dividend) / low(divisor), low(dividend) % low(divisor)};
  if (dividend < divisor || !divisor) // by zero: undefined, but no endless loop
    return {0, dividend};
  unsigned shift = leadingZeros(divisor) - leadingZeros(dividend);
  UInt quotient = 0;
  divisor <<= shift;
  for (unsigned step = 0; step <= shift; ++step, divisor >>= 1) {
    bool fits = dividend >= divisor;
    quotient = quotient << 1 | (fits ? 1 : 0);
    dividend -= fits ? divisor : 0;
  }
  return {quotient, dividend};
}

//===-- floats -----------------------------------------------------------===//

/// Rounds once: what a 64-bit integer drops is kept in its lowest bit, which no float that narrow can hold.
template <typename Float> Float toFloat(UInt value) {
  if (!high(value))
    return static_cast<Float>(low(value));
  unsigned shift = 64 - leadingZeros(value);
  bool isSticky = value << (128 - shift) != 0;
  double scale = bitCast<double>(static_cast<uint64_t>(1023 + shift) << 52);
  return static_cast<Float>(low(value >> shift) | (isSticky ? 1 : 0)) * static_cast<Float>(scale);
}

/// The magnitude, cut off at the point.
UInt fromDouble(double value) {
  uint64_t bits = bitCast<uint64_t>(value);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;
  UInt digits = (bits & 0xfffffffffffff) | 1ull << 52;
  if (exponent >= 0)
    return exponent < 128 ? digits << exponent : 0;
  return exponent > -64 ? digits >> -exponent : 0;
}

/// The bits of the nearest float of 16 bits, of which `digits` are the fraction; of two the even one.
uint16_t roundToHalf(double value, unsigned digits) {
  uint64_t bits = bitCast<uint64_t>(value);
  uint16_t sign = bits >> 63 << 15;
  uint16_t infinity = 0x7fff >> digits << digits;
  bits = bits << 1 >> 1;
  if (bits > 0x7ffull << 52) // not a number
    return sign | infinity | 1u << (digits - 1);
  int bias = (1 << (14 - digits)) - 1;
  int exponent = static_cast<int>(bits >> 52) - 1023 + bias;
  if (exponent > (1 << (15 - digits)) - 2)
    return sign | infinity;
  uint64_t fraction = (bits & 0xfffffffffffff) | 1ull << 52;
  unsigned drop = 52 - digits + (exponent < 1 ? 1 - exponent : 0);
  if (drop > 54)
    return sign;
  uint64_t kept = fraction >> drop, rest = fraction << (64 - drop), half = 1ull << 63;
  kept += rest > half || (rest == half && (kept & 1)) ? 1 : 0;
  // The hidden digit adds one to the exponent, and so does a carry.
  return sign | static_cast<uint16_t>(kept + (exponent < 1 ? 0 : uint64_t(exponent - 1) << digits));
}

/// A float of 16 bits is returned in the low bits of a floating-point register, as a double here.
double inRegister(uint16_t bits) { return bitCast<double>(static_cast<uint64_t>(bits)); }
} // namespace

ALLO_RUNTIME UInt __udivti3(UInt lhs, UInt rhs) { return divide(lhs, rhs).quotient; }
ALLO_RUNTIME UInt __umodti3(UInt lhs, UInt rhs) { return divide(lhs, rhs).remainder; }
ALLO_RUNTIME Int __divti3(Int lhs, Int rhs) {
  UInt quotient = divide(magnitude(lhs), magnitude(rhs)).quotient;
  return static_cast<Int>((lhs < 0) != (rhs < 0) ? -quotient : quotient);
}
ALLO_RUNTIME Int __modti3(Int lhs, Int rhs) {
  UInt remainder = divide(magnitude(lhs), magnitude(rhs)).remainder;
  return static_cast<Int>(lhs < 0 ? -remainder : remainder);
}

ALLO_RUNTIME double __floatuntidf(UInt value) { return toFloat<double>(value); }
ALLO_RUNTIME float __floatuntisf(UInt value) { return toFloat<float>(value); }
ALLO_RUNTIME double __floattidf(Int value) {
  double result = toFloat<double>(magnitude(value));
  return value < 0 ? -result : result;
}
ALLO_RUNTIME float __floattisf(Int value) {
  float result = toFloat<float>(magnitude(value));
  return value < 0 ? -result : result;
}
ALLO_RUNTIME UInt __fixunsdfti(double value) { return fromDouble(value); }
ALLO_RUNTIME UInt __fixunssfti(float value) { return fromDouble(value); }
ALLO_RUNTIME Int __fixdfti(double value) {
  return static_cast<Int>(value < 0 ? -fromDouble(value) : fromDouble(value));
}
ALLO_RUNTIME Int __fixsfti(float value) { return __fixdfti(value); }

ALLO_RUNTIME double __truncdfhf2(double value) { return inRegister(roundToHalf(value, 10)); }
ALLO_RUNTIME double __truncsfhf2(float value) { return inRegister(roundToHalf(value, 10)); }
ALLO_RUNTIME double __truncdfbf2(double value) { return inRegister(roundToHalf(value, 7)); }
ALLO_RUNTIME double __truncsfbf2(float value) { return inRegister(roundToHalf(value, 7)); }
