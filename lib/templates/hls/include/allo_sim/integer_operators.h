// Decides the results of operators on integers: as wide as every value needs, by the rules of HLS.
#ifndef ALLO_SIM_INTEGER_OPERATORS_H
#define ALLO_SIM_INTEGER_OPERATORS_H

#include "views.h"

namespace allo_sim {

/// What takes part in our operators: integers and views of them (fixed point joins in fixed.h), and beside these native
/// numbers. `lift(x)` is the operand as a number of ours, or the float it is.
template <class T>
struct is_own : std::bool_constant<is_view<T>> {};
template <int W, bool S>
struct is_own<integer<W, S>> : std::true_type {};

template <int W, bool S>
constexpr const integer<W, S> &lift(const integer<W, S> &value) {
  return value;
}
template <class T, std::enable_if_t<is_native<T>, int> = 0>
constexpr integer<native<T>::bits, native<T>::is_signed> lift(T value) {
  return value;
}
template <class T, std::enable_if_t<is_floating<T>, long> = 0>
constexpr T lift(T value) {
  return value;
}
template <class T, std::enable_if_t<is_view<T>, char> = 0>
constexpr auto lift(const T &view) {
  return view.get();
}

template <class A, class B>
using if_own = std::enable_if_t<(is_own<A>::value && (is_own<B>::value || is_native<B> || is_floating<B>)) ||
                                (is_own<B>::value && (is_native<A> || is_floating<A>))>;

constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int smaller(int a, int b) { return a < b ? a : b; }

/// The least type that holds the values of both.
template <int W, bool S, int W2, bool S2>
struct both {
  static constexpr bool is_signed = S || S2;
  static constexpr int width = larger(W + (S2 && !S), W2 + (S && !S2));
  using calc = calc_t<width, is_signed>;
};

#define ALLO_SIM_INTEGERS template <int W, bool S, int W2, bool S2>

ALLO_SIM_INTEGERS constexpr auto plus(const integer<W, S> &a, const integer<W2, S2> &b) {
  using B = both<W, S, W2, S2>;
  using Calc = calc_t<B::width + 1, B::is_signed>;
  return integer<B::width + 1, B::is_signed>::exact(add(convert<Calc>(a.raw()), convert<Calc>(b.raw())));
}
ALLO_SIM_INTEGERS constexpr auto minus(const integer<W, S> &a, const integer<W2, S2> &b) {
  using B = both<W, S, W2, S2>;
  using Calc = calc_t<B::width + 1, true>;
  return integer<B::width + 1, true>::exact(sub(convert<Calc>(a.raw()), convert<Calc>(b.raw())));
}
ALLO_SIM_INTEGERS constexpr auto times(const integer<W, S> &a, const integer<W2, S2> &b) {
  using Calc = calc_t<W + W2, S || S2>;
  return integer<W + W2, S || S2>::exact(mul(convert<Calc>(a.raw()), convert<Calc>(b.raw())));
}
/// Toward zero.
ALLO_SIM_INTEGERS constexpr auto over(const integer<W, S> &a, const integer<W2, S2> &b) {
  using B = both<W, S, W2, S2>;
  using Calc = calc_t<B::width + (S && S2), B::is_signed>;
  return integer<W + S2, B::is_signed>::exact(divide(convert<Calc>(a.raw()), convert<Calc>(b.raw())));
}
/// With the sign of the left operand.
ALLO_SIM_INTEGERS constexpr auto rest(const integer<W, S> &a, const integer<W2, S2> &b) {
  using B = both<W, S, W2, S2>;
  using Calc = calc_t<B::width + (S && S2), B::is_signed>;
  return integer<smaller(W, W2 + (S && !S2)), S>::exact(modulo(convert<Calc>(a.raw()), convert<Calc>(b.raw())));
}

#define ALLO_SIM_BITWISE(name, function)                                                            \
  ALLO_SIM_INTEGERS constexpr auto name(const integer<W, S> &a, const integer<W2, S2> &b) {         \
    using B = both<W, S, W2, S2>;                                                                   \
    using Calc = typename B::calc;                                                                  \
    return integer<B::width, B::is_signed>::exact(                                                  \
        function(convert<Calc>(a.raw()), convert<Calc>(b.raw())));                                  \
  }
ALLO_SIM_BITWISE(conjunction, bit_and)
ALLO_SIM_BITWISE(disjunction, bit_or)
ALLO_SIM_BITWISE(exclusive, bit_xor)
#undef ALLO_SIM_BITWISE

ALLO_SIM_INTEGERS constexpr bool is_equal(const integer<W, S> &a, const integer<W2, S2> &b) {
  using Calc = typename both<W, S, W2, S2>::calc;
  return equal(convert<Calc>(a.raw()), convert<Calc>(b.raw()));
}
ALLO_SIM_INTEGERS constexpr bool is_less(const integer<W, S> &a, const integer<W2, S2> &b) {
  using Calc = typename both<W, S, W2, S2>::calc;
  return less(convert<Calc>(a.raw()), convert<Calc>(b.raw()));
}
#undef ALLO_SIM_INTEGERS

/// `a` as the float it is computed with beside a float of type F.
template <class F, int W, bool S>
F as_float(const integer<W, S> &a) {
  if constexpr (std::is_same<F, float>::value) return a.to_float();
  if constexpr (std::is_same<F, half>::value) return a.to_half();
  return F(a.to_double());
}
// The result beside a float is a float.
#define ALLO_SIM_FLOATS(name, expression)                                                           \
  template <class A, class F, std::enable_if_t<is_floating<F> && is_own<A>::value, int> = 0>        \
  auto name(const A &own, F b) {                                                                    \
    const F a = as_float<F>(own);                                                                   \
    return expression;                                                                              \
  }                                                                                                 \
  template <class F, class B, std::enable_if_t<is_floating<F> && is_own<B>::value, long> = 0>       \
  auto name(F a, const B &own) {                                                                    \
    const F b = as_float<F>(own);                                                                   \
    return expression;                                                                              \
  }
ALLO_SIM_FLOATS(plus, a + b)
ALLO_SIM_FLOATS(minus, a - b)
ALLO_SIM_FLOATS(times, a *b)
ALLO_SIM_FLOATS(over, a / b)
ALLO_SIM_FLOATS(is_equal, a == b)
ALLO_SIM_FLOATS(is_less, a < b)
#undef ALLO_SIM_FLOATS

#define ALLO_SIM_OPERATOR(op, function)                                                             \
  template <class A, class B, class = if_own<A, B>>                                                 \
  constexpr auto operator op(const A &a, const B &b) {                                              \
    return function(lift(a), lift(b));                                                              \
  }
ALLO_SIM_OPERATOR(+, plus)
ALLO_SIM_OPERATOR(-, minus)
ALLO_SIM_OPERATOR(*, times)
ALLO_SIM_OPERATOR(/, over)
ALLO_SIM_OPERATOR(%, rest)
ALLO_SIM_OPERATOR(&, conjunction)
ALLO_SIM_OPERATOR(|, disjunction)
ALLO_SIM_OPERATOR(^, exclusive)
ALLO_SIM_OPERATOR(==, is_equal)
ALLO_SIM_OPERATOR(<, is_less)
#undef ALLO_SIM_OPERATOR

template <class A, class B, class = if_own<A, B>>
constexpr bool operator!=(const A &a, const B &b) {
  return !is_equal(lift(a), lift(b));
}
template <class A, class B, class = if_own<A, B>>
constexpr bool operator>(const A &a, const B &b) {
  return is_less(lift(b), lift(a));
}
template <class A, class B, class = if_own<A, B>>
constexpr bool operator<=(const A &a, const B &b) {
  if constexpr (is_floating<A> || is_floating<B>)
    return is_less(lift(a), lift(b)) || is_equal(lift(a), lift(b));  // NaN
  else
    return !is_less(lift(b), lift(a));
}
template <class A, class B, class = if_own<A, B>>
constexpr bool operator>=(const A &a, const B &b) {
  return b <= a;
}

/// The amount of a shift, no further from 0 than `limit`, at which all bits are out.
template <class T>
constexpr int shift_amount(const T &by, int limit) {
  const auto amount = lift(by);
  if (is_less(amount, lift(-limit))) return -limit;
  if (is_less(lift(limit), amount)) return limit;
  return amount.to_int();
}

/// Raw bits of W, S shifted to the left; a negative amount shifts to the right, filled with the sign.
template <int W, bool S>
constexpr integer<W, S> shifted(const integer<W, S> &value, int amount) {
  using Calc = calc_t<W, S>;
  if (amount >= 0) {
    if (amount >= W) return 0;
    return integer<W, S>::wrapped(shift_left(convert<Calc>(value.raw()), amount));
  }
  const int last = W - 1;
  if (!S && -amount > last) return 0;
  return integer<W, S>::exact(shift_right(convert<Calc>(value.raw()), -amount > last ? last : -amount));
}

template <class A, class B>
using if_shift = std::enable_if_t<(is_own<A>::value || is_own<B>::value) && (is_own<A>::value || is_native<A>) &&
                                  (is_own<B>::value || is_native<B>)>;

// The type of a shift is that of its left operand. A negative amount shifts the other way.
template <class A, class B, class = if_shift<A, B>>
constexpr auto operator<<(const A &a, const B &by) {
  return shifted(lift(a), shift_amount(by, lift(a).length()));
}
template <class A, class B, class = if_shift<A, B>>
constexpr auto operator>>(const A &a, const B &by) {
  return shifted(lift(a), -shift_amount(by, lift(a).length()));
}

template <int W, bool S>
constexpr integer<W + 1, true> operator-(const integer<W, S> &a) {
  using Calc = calc_t<W + 1, true>;
  return integer<W + 1, true>::exact(sub(Calc{}, convert<Calc>(a.raw())));
}
template <int W, bool S>
constexpr integer<W, S> operator+(const integer<W, S> &a) {
  return a;
}
template <int W, bool S>
constexpr integer<W, S> operator~(integer<W, S> a) {
  return a.b_not();
}
template <int W, bool S>
constexpr bool operator!(const integer<W, S> &a) {
  return a.is_zero();
}
template <int W, bool S>
constexpr auto operator-(const range_ref<W, S> &a) {
  return -a.get();
}
template <int W, bool S>
constexpr auto operator~(const range_ref<W, S> &a) {
  return ~a.get();
}

template <int W, bool S>
constexpr integer<W, S> &operator++(integer<W, S> &a) {
  return a += 1;
}
template <int W, bool S>
constexpr integer<W, S> &operator--(integer<W, S> &a) {
  return a -= 1;
}
template <int W, bool S>
constexpr integer<W, S> operator++(integer<W, S> &a, int) {
  const integer<W, S> before = a;
  a += 1;
  return before;
}
template <int W, bool S>
constexpr integer<W, S> operator--(integer<W, S> &a, int) {
  const integer<W, S> before = a;
  a -= 1;
  return before;
}

// `a op= b` is `a = a op b`, so it wraps; native variables and views of bits are assigned to likewise.
#define ALLO_SIM_ASSIGN(op)                                                                         \
  template <int W, bool S, class B, class = if_own<integer<W, S>, B>>                               \
  constexpr integer<W, S> &operator op##=(integer<W, S> &a, const B &b) {                           \
    return a = integer<W, S>(a op b);                                                               \
  }                                                                                                 \
  template <class T, class B,                                                                       \
            std::enable_if_t<(is_native<T> || is_floating<T>) && is_own<B>::value, int> = 0>        \
  constexpr T &operator op##=(T &a, const B &b) {                                                   \
    return a = T(a op b);                                                                           \
  }                                                                                                 \
  template <class V, class B, std::enable_if_t<is_view<V>, long> = 0>                               \
  constexpr V operator op##=(V a, const B &b) {                                                     \
    a = a op b;                                                                                     \
    return a;                                                                                       \
  }
ALLO_SIM_ASSIGN(+)
ALLO_SIM_ASSIGN(-)
ALLO_SIM_ASSIGN(*)
ALLO_SIM_ASSIGN(/)
ALLO_SIM_ASSIGN(%)
ALLO_SIM_ASSIGN(&)
ALLO_SIM_ASSIGN(|)
ALLO_SIM_ASSIGN(^)
ALLO_SIM_ASSIGN(<<)
ALLO_SIM_ASSIGN(>>)
#undef ALLO_SIM_ASSIGN

// Where low bits depend on low bits only, no more than them are computed.
#define ALLO_SIM_ASSIGN(op, function)                                                               \
  template <int W, bool S, int W2, bool S2>                                                         \
  constexpr integer<W, S> &operator op##=(integer<W, S> &a, const integer<W2, S2> &b) {             \
    using Calc = calc_t<W, S>;                                                                      \
    return a = integer<W, S>::wrapped(function(convert<Calc>(a.raw()), convert<Calc>(b.raw())));    \
  }
ALLO_SIM_ASSIGN(+, add)
ALLO_SIM_ASSIGN(-, sub)
ALLO_SIM_ASSIGN(*, mul)
ALLO_SIM_ASSIGN(&, bit_and)
ALLO_SIM_ASSIGN(|, bit_or)
ALLO_SIM_ASSIGN(^, bit_xor)
#undef ALLO_SIM_ASSIGN

}  // namespace allo_sim

#endif
