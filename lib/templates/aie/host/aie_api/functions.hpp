// What kernels of users take of the AIE vector API beyond those of allo, for the compiler of a host.
#pragma once

#include <cmath>
#include <utility>

namespace aie {
namespace host {
template <typename T> constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16>;
template <typename T> using if_number = std::enable_if_t<is_number<T>, int>;
template <typename A, typename B> using tag_of_both = std::conditional_t<is_float<A> || is_float<B>, accfloat, acc64>;
template <typename T, unsigned N, typename F> vector<T, N> mapped(const vector<T, N> &a, F f) {
  vector<T, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = T(f(a.lanes[k]));
  return made;
}
} // namespace host

// Lanes with a number, or a number with lanes, are lanes with that number in each.
#define ALLO_WITH_NUMBER(function)                                                                                     \
  template <typename T, unsigned N, typename U, host::if_number<U> = 0> auto function(const vector<T, N> &a, U b) {    \
    return function(a, broadcast<T, N>(T(b)));                                                                         \
  }                                                                                                                    \
  template <typename T, unsigned N, typename U, host::if_number<U> = 0> auto function(U a, const vector<T, N> &b) {    \
    return function(broadcast<T, N>(T(a)), b);                                                                         \
  }
// Products of numbers of two types keep both.
template <typename A, typename B, unsigned N, std::enable_if_t<!std::is_same_v<A, B>, int> = 0>
auto mul(const vector<A, N> &a, const vector<B, N> &b) {
  accum<host::tag_of_both<A, B>, N> made;
  using S = sum_of<host::tag_of_both<A, B>>;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = S(a.lanes[k]) * S(b.lanes[k]);
  return made;
}
template <typename T, unsigned N> auto div(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<vector<T, N>>(a, b, [](T x, T y) { return T(float(x) / float(y)); });
}
#define ALLO_COMPARED(function, op)                                                                                    \
  template <typename T, unsigned N> mask<T, N> function(const vector<T, N> &a, const vector<T, N> &b) {                \
    return host::each<mask<T, N>>(a, b, [](T x, T y) { return x op y; });                                              \
  }                                                                                                                    \
  ALLO_WITH_NUMBER(function)
ALLO_COMPARED(gt, >)
ALLO_COMPARED(le, <=)
ALLO_COMPARED(neq, !=)
#undef ALLO_COMPARED
#define ALLO_BITS(function, op)                                                                                        \
  template <typename T, unsigned N> vector<T, N> function(const vector<T, N> &a, const vector<T, N> &b) {              \
    return host::each<vector<T, N>>(a, b, [](T x, T y) { return T(x op y); });                                         \
  }                                                                                                                    \
  ALLO_WITH_NUMBER(function)
ALLO_BITS(bit_and, &)
ALLO_BITS(bit_or, |)
ALLO_BITS(bit_xor, ^)
#undef ALLO_BITS
ALLO_WITH_NUMBER(add)
ALLO_WITH_NUMBER(sub)
ALLO_WITH_NUMBER(mul)
ALLO_WITH_NUMBER(div)
ALLO_WITH_NUMBER(max)
ALLO_WITH_NUMBER(min)
ALLO_WITH_NUMBER(lt)
ALLO_WITH_NUMBER(ge)
ALLO_WITH_NUMBER(eq)
#undef ALLO_WITH_NUMBER

// Sums of accumulators with accumulators and lanes.
#define ALLO_SUM(function, op)                                                                                         \
  template <typename Tag, unsigned N> accum<Tag, N> function(accum<Tag, N> a, const accum<Tag, N> &b) {                \
    for (unsigned k = 0; k < N; ++k)                                                                                   \
      a.lanes[k] = a.lanes[k] op b.lanes[k];                                                                           \
    return a;                                                                                                          \
  }                                                                                                                    \
  template <typename Tag, typename T, unsigned N> accum<Tag, N> function(accum<Tag, N> a, const vector<T, N> &b) {     \
    return function(a, accum<Tag, N>(b));                                                                              \
  }
ALLO_SUM(add, +)
ALLO_SUM(sub, -)
#undef ALLO_SUM
template <typename Tag, unsigned N, typename A, typename B> accum<Tag, N> mac(const accum<Tag, N> &sum, A &&a, B &&b) {
  return add(sum, accum<Tag, N>(mul(std::forward<A>(a), std::forward<B>(b))));
}
template <typename Tag, unsigned N, typename A, typename B> accum<Tag, N> msc(const accum<Tag, N> &sum, A &&a, B &&b) {
  return sub(sum, accum<Tag, N>(mul(std::forward<A>(a), std::forward<B>(b))));
}
template <typename A, typename B> auto negmul(A &&a, B &&b) {
  auto made = mul(std::forward<A>(a), std::forward<B>(b));
  for (auto &lane : made.lanes)
    lane = -lane;
  return made;
}
template <typename T, unsigned N> auto mul_square(const vector<T, N> &a) { return mul(a, a); }
template <typename Tag, unsigned N, typename T> auto mac_square(const accum<Tag, N> &sum, const vector<T, N> &a) {
  return mac(sum, a, a);
}

template <typename T, unsigned N> vector<T, N> abs(const vector<T, N> &a) {
  return host::mapped(a, [](T x) { return x < T(0) ? T(-host::word<T>(x)) : x; });
}
template <typename T, unsigned N> vector<T, N> bit_not(const vector<T, N> &a) {
  return host::mapped(a, [](T x) { return ~x; });
}
template <typename T, unsigned N> vector<T, N> downshift(const vector<T, N> &a, unsigned shift) {
  return host::mapped(a, [shift](T x) { return x >> shift; });
}

// Functions of floats; of accumulators they are those of their lanes.
#define ALLO_FUNCTION(function, value)                                                                                 \
  template <typename R = bfloat16, typename T, unsigned N> vector<R, N> function(const vector<T, N> &a) {              \
    vector<R, N> made;                                                                                                 \
    for (unsigned k = 0; k < N; ++k) {                                                                                 \
      const float x = float(a.lanes[k]);                                                                               \
      made.lanes[k] = R(value);                                                                                        \
    }                                                                                                                  \
    return made;                                                                                                       \
  }                                                                                                                    \
  template <typename R = bfloat16, unsigned N> vector<R, N> function(const accum<accfloat, N> &a) {                    \
    return function<R>(a.template to_vector<float>());                                                                 \
  }
ALLO_FUNCTION(exp2, std::exp2(x))
ALLO_FUNCTION(tanh, std::tanh(x))
#undef ALLO_FUNCTION
#define ALLO_LANES(function)                                                                                           \
  template <unsigned N> vector<bfloat16, N> function(const vector<bfloat16, N> &a) {                                   \
    return host::mapped(a, [](bfloat16 x) { return function(float(x)); });                                             \
  }                                                                                                                    \
  template <unsigned N> vector<float, N> function(const accum<accfloat, N> &a) {                                       \
    return function(a.template to_vector<float>());                                                                    \
  }
ALLO_LANES(inv)
ALLO_LANES(sqrt)
ALLO_LANES(invsqrt)
#undef ALLO_LANES

// The lanes in another order.
template <typename T, unsigned N> vector<T, N> reverse(const vector<T, N> &a) {
  vector<T, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = a.lanes[N - 1 - k];
  return made;
}
template <typename T, unsigned N> vector<T, N> shuffle_down(const vector<T, N> &a, unsigned count) {
  vector<T, N> made;
  for (unsigned k = count; k < N; ++k)
    made.lanes[k - count] = a.lanes[k];
  return made;
}
template <typename T, unsigned N> vector<T, N> shuffle_up(const vector<T, N> &a, unsigned count) {
  vector<T, N> made;
  for (unsigned k = count; k < N; ++k)
    made.lanes[k] = a.lanes[k - count];
  return made;
}
template <typename T, unsigned N> vector<T, 2 * N> concat(const vector<T, N> &a, const vector<T, N> &b) {
  vector<T, 2 * N> made;
  made.insert(0, a);
  made.insert(1, b);
  return made;
}
// `step` lanes of one and of the other in turns: the first half of what that makes, and the second.
template <typename T, unsigned N>
std::pair<vector<T, N>, vector<T, N>> interleave_zip(const vector<T, N> &a, const vector<T, N> &b, unsigned step) {
  std::pair<vector<T, N>, vector<T, N>> made;
  for (unsigned k = 0; k < 2 * N; ++k)
    (k < N ? made.first : made.second).lanes[k % N] = (k / step % 2 ? b : a).lanes[k / (2 * step) * step + k % step];
  return made;
}
template <typename T, unsigned N> vector<T, N / 2> filter_even(const vector<T, N> &a) {
  vector<T, N / 2> made;
  for (unsigned k = 0; k < N / 2; ++k)
    made.lanes[k] = a.lanes[2 * k];
  return made;
}
template <typename T, unsigned N> vector<T, N / 2> filter_odd(const vector<T, N> &a) {
  return filter_even(shuffle_down(a, 1));
}

// Vectors of an array, one after the other.
template <typename T, unsigned N> class vector_iterator {
  T *place;
  struct Reference {
    T *place;
    operator vector<std::remove_const_t<T>, N>() const { return load_v<N>(place); }
    Reference &operator=(const vector<std::remove_const_t<T>, N> &from) {
      store_v(place, from);
      return *this;
    }
  };

public:
  explicit vector_iterator(T *from) : place(from) {}
  auto operator*() const {
    if constexpr (std::is_const_v<T>)
      return load_v<N>(place);
    else
      return Reference{place};
  }
  vector_iterator &operator++() { return *this += 1; }
  vector_iterator operator++(int) {
    vector_iterator before = *this;
    place += N;
    return before;
  }
  vector_iterator &operator+=(int count) {
    place += count * int(N);
    return *this;
  }
  vector_iterator operator+(int count) const { return vector_iterator(place + count * int(N)); }
  bool operator==(const vector_iterator &other) const { return place == other.place; }
  bool operator!=(const vector_iterator &other) const { return place != other.place; }
};
template <unsigned N, typename T> auto begin_vector(T *from) { return vector_iterator<T, N>(from); }
template <unsigned N, typename T> auto begin_restrict_vector(T *from) { return vector_iterator<T, N>(from); }
template <unsigned N, typename T> auto cbegin_vector(const T *from) { return vector_iterator<const T, N>(from); }
template <unsigned N, typename T> auto cbegin_restrict_vector(const T *from) { return vector_iterator<const T, N>(from); }
} // namespace aie

// What compilers for cores know without a header: marks of traces, pragmas of loops, names of registers.
inline void event0() {}
inline void event1() {}
#define chess_prepare_for_pipelining
#define chess_flatten_loop
#define chess_unroll_loop(...)
#define chess_loop_range(...)
#define chess_loop_count(...)
#define chess_storage(...)
using v16bfloat16 = aie::vector<bfloat16, 16>;
using v32bfloat16 = aie::vector<bfloat16, 32>;
using v16float = aie::vector<float, 16>;
using v16int32 = aie::vector<std::int32_t, 16>;
using v32int16 = aie::vector<std::int16_t, 32>;
using v64int8 = aie::vector<std::int8_t, 64>;
using v16accfloat = aie::accum<accfloat, 16>;
inline v16bfloat16 to_v16bfloat16(const v16accfloat &a) { return a.to_vector<bfloat16>(); }
