// Decides how integers are read from text and written to it.
#ifndef ALLO_SIM_INTEGER_TEXT_H
#define ALLO_SIM_INTEGER_TEXT_H

#include <iosfwd>
#include <string>

#include "integer_operators.h"

namespace allo_sim {

inline int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'z') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'Z') return digit - 'A' + 10;
  return 36;
}

/// The base that a prefix names (10 without one), behind which `at` is set.
inline int prefixed_radix(const std::string &text, std::size_t &at) {
  if (at + 1 >= text.size() || text[at] != '0') return 10;
  const char letter = text[at + 1];
  const int radix = letter == 'x' || letter == 'X'   ? 16
                    : letter == 'b' || letter == 'B' ? 2
                    : letter == 'o' || letter == 'O' ? 8
                                                     : 10;
  if (radix != 10) at += 2;
  return radix;
}

/// The number that `text` is; `radix` 0 goes by the prefix, and the prefix of another radix is allowed.
inline integer<1024, true> parsed(const char *characters, int radix) {
  const std::string text = characters;
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) ++at;
  std::size_t behind = at;
  const int named = prefixed_radix(text, behind);
  if (radix == 0 || named == radix) {
    radix = named;
    at = behind;
  }
  if (at >= text.size()) not_a_number(text, radix);
  integer<1024, false> value = 0;
  for (; at < text.size(); ++at) {
    const int digit = digit_value(text[at]);
    if (digit >= radix) not_a_number(text, radix);
    value = value * integer<8, false>(radix) + digit;
  }
  return negative ? integer<1024, true>(-value) : integer<1024, true>(value);
}

/// Digits without prefix; the sign in front.
template <int W, bool S>
std::string digits_of(const integer<W, S> &value, int radix) {
  integer<W + 1, false> left = value.is_neg() ? integer<W + 1, false>(-value) : integer<W + 1, false>(value);
  const integer<6, false> base = radix;
  std::string text;
  do {
    text.insert(text.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[(left % base).to_int()]);
    left = left / base;
  } while (!left.is_zero());
  return value.is_neg() ? '-' + text : text;
}

/// Base 10 as a number, with the sign if `sign`; bases 2, 8, 16 with prefix, all W bits (for `sign`: of the number).
template <int W, bool S>
std::string integer<W, S>::to_string(int radix, bool sign) const {
  if (radix == 10) return sign ? digits_of(*this, 10) : digits_of(integer<W, false>(*this), 10);
  const int bits = radix == 16 ? 4 : radix == 8 ? 3 : 1;
  if (radix != 16 && radix != 8 && radix != 2) not_a_number("", radix);
  std::string text = radix == 16 ? "0x" : radix == 8 ? "0o" : "0b";
  for (int low = (W - 1) / bits * bits; low >= 0; low -= bits) {
    int digit = 0;
    for (int i = bits - 1; i >= 0; --i) {
      const bool above = low + i >= W;
      digit = 2 * digit + int(above ? sign && is_neg() : get_bit(low + i));
    }
    text += "0123456789abcdef"[digit];
  }
  return text;
}

template <class Char, class Traits, int W, bool S>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, const integer<W, S> &value) {
  using flags = std::basic_ostream<Char, Traits>;  // complete where somebody writes to one
  const auto base = out.flags() & flags::basefield;
  const int radix = base == flags::hex ? 16 : base == flags::oct ? 8 : 10;
  const bool prefix = radix != 10 && (out.flags() & flags::showbase);
  const std::string text = radix == 10 ? digits_of(value, 10) : digits_of(integer<W, false>(value), radix);
  return out << ((prefix ? radix == 16 ? "0x" : "0" : "") + text).c_str();
}
template <class Char, class Traits, class V, class = std::enable_if_t<is_view<V>>>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, const V &view) {
  return out << view.get();
}
template <class Char, class Traits, int W, bool S>
std::basic_istream<Char, Traits> &operator>>(std::basic_istream<Char, Traits> &in, integer<W, S> &value) {
  std::string text;
  in >> text;
  value = integer<W, S>(text.c_str());
  return in;
}

}  // namespace allo_sim

#endif
