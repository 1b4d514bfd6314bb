// Decides the results of operators on fixed point: exact, but for quotients.
#ifndef ALLO_SIM_FIXED_OPERATORS_H
#define ALLO_SIM_FIXED_OPERATORS_H

#include <iosfwd>

#include "fixed.h"

namespace allo_sim {

#define ALLO_SIM_NUMBER template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
#define ALLO_SIM_NUMBERS                                                                                 \
  template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N, int W2, int I2, bool S2, ap_q_mode Q2, \
            ap_o_mode O2, int N2>
#define ALLO_SIM_LEFT fixed<W, I, S, Q, O, N>
#define ALLO_SIM_RIGHT fixed<W2, I2, S2, Q2, O2, N2>

/// The mantissa with F digits behind the point, of which there are at most F.
template <int F, int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
constexpr auto aligned(const ALLO_SIM_LEFT &a) {
  return shifted(integer<I + F, S>(a.mantissa()), F - (W - I));
}

/// The number with F digits behind the point whose mantissa this is.
template <int F, int W, bool S>
constexpr fixed<W, W - F, S> with_fractions(const integer<W, S> &mantissa) {
  return fixed<W, W - F, S>::from_mantissa(mantissa);
}

template <int W, bool S>
constexpr fixed<W, W, S> whole(const integer<W, S> &number) {
  return fixed<W, W, S>::from_mantissa(number);
}

#define ALLO_SIM_ALIGNED(name)                                                              \
  ALLO_SIM_NUMBERS constexpr auto name(const ALLO_SIM_LEFT &a, const ALLO_SIM_RIGHT &b) {   \
    constexpr int F = larger(W - I, W2 - I2);                                               \
    return with_fractions<F>(name(aligned<F>(a), aligned<F>(b)));                           \
  }
ALLO_SIM_ALIGNED(plus)
ALLO_SIM_ALIGNED(minus)
ALLO_SIM_ALIGNED(conjunction)
ALLO_SIM_ALIGNED(disjunction)
ALLO_SIM_ALIGNED(exclusive)
#undef ALLO_SIM_ALIGNED

ALLO_SIM_NUMBERS constexpr auto times(const ALLO_SIM_LEFT &a, const ALLO_SIM_RIGHT &b) {
  return with_fractions<W - I + W2 - I2>(times(a.mantissa(), b.mantissa()));
}
/// As many digits behind the point as the left operand; further ones are dropped toward zero.
ALLO_SIM_NUMBERS constexpr auto over(const ALLO_SIM_LEFT &a, const ALLO_SIM_RIGHT &b) {
  constexpr int F2 = W2 - I2;
  constexpr int more = larger(F2, 0);
  const auto dividend = shifted(integer<W + more, S>(a.mantissa()), more);
  return with_fractions<W - I + more - F2>(over(dividend, b.mantissa()));
}
ALLO_SIM_NUMBERS constexpr bool is_equal(const ALLO_SIM_LEFT &a, const ALLO_SIM_RIGHT &b) {
  constexpr int F = larger(W - I, W2 - I2);
  return is_equal(aligned<F>(a), aligned<F>(b));
}
ALLO_SIM_NUMBERS constexpr bool is_less(const ALLO_SIM_LEFT &a, const ALLO_SIM_RIGHT &b) {
  constexpr int F = larger(W - I, W2 - I2);
  return is_less(aligned<F>(a), aligned<F>(b));
}

// Integers have no digits behind the point.
#define ALLO_SIM_MIXED(name)                                                                              \
  template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N, int W2, bool S2>                       \
  constexpr auto name(const ALLO_SIM_LEFT &a, const integer<W2, S2> &b) {                                 \
    return name(a, whole(b));                                                                             \
  }                                                                                                       \
  template <int W2, bool S2, int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>                       \
  constexpr auto name(const integer<W2, S2> &a, const ALLO_SIM_LEFT &b) {                                 \
    return name(whole(a), b);                                                                             \
  }
ALLO_SIM_MIXED(plus)
ALLO_SIM_MIXED(minus)
ALLO_SIM_MIXED(times)
ALLO_SIM_MIXED(over)
ALLO_SIM_MIXED(conjunction)
ALLO_SIM_MIXED(disjunction)
ALLO_SIM_MIXED(exclusive)
ALLO_SIM_MIXED(is_equal)
ALLO_SIM_MIXED(is_less)
#undef ALLO_SIM_MIXED

template <class F, int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
F as_float(const ALLO_SIM_LEFT &a) {
  return F(a.to_double());
}

/// Shifts move the bits within the type.
ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT shifted(const ALLO_SIM_LEFT &a, int amount) {
  return ALLO_SIM_LEFT::from_mantissa(shifted(a.mantissa(), amount));
}

ALLO_SIM_NUMBER constexpr fixed<W + 1, I + 1, true> operator-(const ALLO_SIM_LEFT &a) {
  return with_fractions<W - I>(-a.mantissa());
}
ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT operator+(const ALLO_SIM_LEFT &a) { return a; }
ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT operator~(const ALLO_SIM_LEFT &a) {
  return ALLO_SIM_LEFT::from_mantissa(~a.mantissa());
}
ALLO_SIM_NUMBER constexpr bool operator!(const ALLO_SIM_LEFT &a) { return a.is_zero(); }

ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT &operator++(ALLO_SIM_LEFT &a) { return a = ALLO_SIM_LEFT(a + 1); }
ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT &operator--(ALLO_SIM_LEFT &a) { return a = ALLO_SIM_LEFT(a - 1); }
ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT operator++(ALLO_SIM_LEFT &a, int) {
  const ALLO_SIM_LEFT before = a;
  ++a;
  return before;
}
ALLO_SIM_NUMBER constexpr ALLO_SIM_LEFT operator--(ALLO_SIM_LEFT &a, int) {
  const ALLO_SIM_LEFT before = a;
  --a;
  return before;
}

#define ALLO_SIM_ASSIGN(op)                                                                              \
  template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N, class B, class = if_own<ALLO_SIM_LEFT, B>> \
  constexpr ALLO_SIM_LEFT &operator op##=(ALLO_SIM_LEFT &a, const B &b) {                                 \
    return a = ALLO_SIM_LEFT(a op b);                                                                    \
  }
ALLO_SIM_ASSIGN(+)
ALLO_SIM_ASSIGN(-)
ALLO_SIM_ASSIGN(*)
ALLO_SIM_ASSIGN(/)
ALLO_SIM_ASSIGN(&)
ALLO_SIM_ASSIGN(|)
ALLO_SIM_ASSIGN(^)
ALLO_SIM_ASSIGN(<<)
ALLO_SIM_ASSIGN(>>)
#undef ALLO_SIM_ASSIGN

template <class Char, class Traits, int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, const ALLO_SIM_LEFT &value) {
  return out << value.to_double();
}

#undef ALLO_SIM_NUMBER
#undef ALLO_SIM_NUMBERS
#undef ALLO_SIM_LEFT
#undef ALLO_SIM_RIGHT

}  // namespace allo_sim

#endif
