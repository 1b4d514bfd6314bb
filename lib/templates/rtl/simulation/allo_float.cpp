// Float operations of the modules in this folder, on the bits of a format; `layout` is 64 times the digits of the exponent
// and the digits of the fraction. All NaN are one: positive, quiet, without payload.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {
template <typename To, typename From> To bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

enum Layout { half = 5 * 64 + 10, brain = 8 * 64 + 7, single = 8 * 64 + 23, twice = 11 * 64 + 52 };

float brain_value(std::uint64_t a) { return bits<float>(static_cast<std::uint32_t>(a << 16)); }

std::uint64_t brain_bits(float value) {
  auto word = bits<std::uint32_t>(value);
  return (word + 0x7fff + (word >> 16 & 1)) >> 16;
}

// Two roundings, first to float, give what one gives: 24 digits are at least twice 11 and 2.
template <typename Operation> std::uint64_t calculated(int layout, std::uint64_t a, std::uint64_t b, Operation operation) {
  switch (layout) {
  case single: {
    float y = operation(bits<float>(static_cast<std::uint32_t>(a)), bits<float>(static_cast<std::uint32_t>(b)));
    return std::isnan(y) ? 0x7fc00000 : bits<std::uint32_t>(y);
  }
  case twice: {
    double y = operation(bits<double>(a), bits<double>(b));
    return std::isnan(y) ? 0x7ff8000000000000 : bits<std::uint64_t>(y);
  }
  case half: {
    float y = operation(static_cast<float>(bits<_Float16>(static_cast<std::uint16_t>(a))),
                        static_cast<float>(bits<_Float16>(static_cast<std::uint16_t>(b))));
    return std::isnan(y) ? 0x7e00 : bits<std::uint16_t>(static_cast<_Float16>(y));
  }
  case brain: {
    float y = operation(brain_value(a), brain_value(b));
    return std::isnan(y) ? 0x7fc0 : brain_bits(y);
  }
  }
  __builtin_unreachable(); // the library describes these four
}
} // namespace

extern "C" {
unsigned long long allo_float_add(int layout, unsigned long long a, unsigned long long b) {
  return calculated(layout, a, b, [](auto x, auto z) { return x + z; });
}
unsigned long long allo_float_mul(int layout, unsigned long long a, unsigned long long b) {
  return calculated(layout, a, b, [](auto x, auto z) { return x * z; });
}
unsigned long long allo_float_div(int layout, unsigned long long a, unsigned long long b) {
  return calculated(layout, a, b, [](auto x, auto z) { return x / z; });
}
unsigned long long allo_float_sqrt(int layout, unsigned long long a) {
  return calculated(layout, a, a, [](auto x, auto) { return std::sqrt(x); });
}
}
