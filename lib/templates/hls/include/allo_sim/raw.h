// Decides how W bits lie in memory (8, 16, 32, 64, 128 bits, then words) and how such values are computed with.
#ifndef ALLO_SIM_RAW_H
#define ALLO_SIM_RAW_H

#include <cstdint>
#include <type_traits>

#include "wide.h"

namespace allo_sim {

// A class of storage by the number of its bits; 0 means words.
constexpr int storage_bits(int width) {
  return width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : width <= 64 ? 64 : width <= 128 ? 128 : 0;
}

template <int Bits, int W, bool S>
struct storage {
  using type = wide<(W + 63) / 64, S>;
};
template <int W, bool S>
struct storage<8, W, S> {
  using type = std::conditional_t<S, std::int8_t, std::uint8_t>;
};
template <int W, bool S>
struct storage<16, W, S> {
  using type = std::conditional_t<S, std::int16_t, std::uint16_t>;
};
template <int W, bool S>
struct storage<32, W, S> {
  using type = std::conditional_t<S, std::int32_t, std::uint32_t>;
};
template <int W, bool S>
struct storage<64, W, S> {
  using type = std::conditional_t<S, std::int64_t, std::uint64_t>;
};
template <int W, bool S>
struct storage<128, W, S> {
  using type = std::conditional_t<S, int128, uint128>;
};

/// What holds a number of W bits.
template <int W, bool S>
using raw_t = typename storage<storage_bits(W), W, S>::type;

/// What numbers of W bits are computed in: never below 32 bits, where C++ would promote.
template <int W, bool S>
using calc_t = raw_t<(W < 32 ? 32 : W), S>;

template <class T>
struct wide_words {
  static constexpr int value = 0;
};
template <int N, bool S>
struct wide_words<wide<N, S>> {
  static constexpr int value = N;
  static constexpr bool is_signed = S;
};
template <class T>
constexpr bool is_wide = wide_words<T>::value != 0;

/// The unsigned type beside a native one of at least 32 bits, in which nothing overflows.
template <class T>
using modular_t = raw_t<int(8 * sizeof(T)), false>;

template <class T>
constexpr bool is_signed_raw = T(-1) < T(0);

/// The same number in another form, cut on the left if the form is shorter.
template <class To, class From>
constexpr To convert(const From &from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (is_wide<To> && is_wide<From>) {
    To to;
    for (int i = 0; i < wide_words<To>::value; ++i)
      to.word[i] = i < wide_words<From>::value ? from.word[i] : from.fill();
    return to;
  } else if constexpr (is_wide<To>) {
    To to;
    const word_t fill = from < From(0) ? ~word_t(0) : word_t(0);
    to.word[0] = word_t(from);
    for (int i = 1; i < wide_words<To>::value; ++i) to.word[i] = fill;
    if constexpr (sizeof(From) == 16) to.word[1] = word_t(uint128(from) >> 64);
    return to;
  } else if constexpr (is_wide<From>) {
    if constexpr (sizeof(To) == 16) return To(uint128(from.word[1]) << 64 | from.word[0]);
    return To(from.word[0]);
  } else {
    return To(from);
  }
}

template <class T>
using if_native = std::enable_if_t<!is_wide<T>>;

template <class T, class = if_native<T>>
constexpr T add(T a, T b) {
  return T(modular_t<T>(a) + modular_t<T>(b));
}
template <class T, class = if_native<T>>
constexpr T sub(T a, T b) {
  return T(modular_t<T>(a) - modular_t<T>(b));
}
template <class T, class = if_native<T>>
constexpr T mul(T a, T b) {
  return T(modular_t<T>(a) * modular_t<T>(b));
}
template <class T, class = if_native<T>>
constexpr T bit_and(T a, T b) {
  return T(a & b);
}
template <class T, class = if_native<T>>
constexpr T bit_or(T a, T b) {
  return T(a | b);
}
template <class T, class = if_native<T>>
constexpr T bit_xor(T a, T b) {
  return T(a ^ b);
}
template <class T, class = if_native<T>>
constexpr T bit_not(T a) {
  return T(~a);
}
template <class T, class = if_native<T>>
constexpr T shift_left(T a, int amount) {
  return T(modular_t<T>(a) << amount);
}
template <class T, class = if_native<T>>
constexpr T shift_right(T a, int amount) {
  return T(a >> amount);
}
template <class T, class = if_native<T>>
constexpr bool equal(T a, T b) {
  return a == b;
}
template <class T, class = if_native<T>>
constexpr bool less(T a, T b) {
  return a < b;
}
template <class T, class = if_native<T>>
constexpr T divide(T a, T b) {
  if (b == 0) division_by_zero();
  return T(a / b);
}
template <class T, class = if_native<T>>
constexpr T modulo(T a, T b) {
  if (b == 0) division_by_zero();
  return T(a % b);
}

/// The number that the low W bits of its storage are.
template <int W, bool S>
constexpr raw_t<W, S> normalise(raw_t<W, S> raw) {
  constexpr int bits = storage_bits(W) == 0 ? 64 : storage_bits(W);
  constexpr int unused = storage_bits(W) == 0 ? (64 - W % 64) % 64 : bits - W;
  if constexpr (unused == 0) {
    return raw;
  } else if constexpr (is_wide<raw_t<W, S>>) {
    word_t &top = raw.word[(W - 1) / 64];
    top = S ? word_t(std::int64_t(top << unused) >> unused) : top << unused >> unused;
    return raw;
  } else {
    using Whole = raw_t<bits, S>;
    using Bits = raw_t<bits, false>;
    return raw_t<W, S>(Whole(Bits(Bits(raw) << unused)) >> unused);
  }
}

/// Word i of the number, as if it had infinitely many.
template <class T>
constexpr word_t word_of(const T &raw, int i) {
  if constexpr (is_wide<T>) {
    return i < wide_words<T>::value ? raw.word[i] : raw.fill();
  } else if constexpr (sizeof(T) == 16) {
    return i == 0 ? word_t(raw) : i == 1 ? word_t(uint128(raw) >> 64) : raw < 0 ? ~word_t(0) : word_t(0);
  } else {
    return i == 0 ? word_t(raw) : raw < T(0) ? ~word_t(0) : word_t(0);
  }
}

/// The nearest double, halves to even.
template <class T>
inline double to_double(const T &raw) {
  if constexpr (!is_wide<T>) {
    return double(raw);
  } else {
    const auto absolute = magnitude(raw);
    int top = wide_words<T>::value - 1;
    while (top > 0 && absolute.word[top] == 0) --top;
    if (top == 0) return raw.negative() ? -double(absolute.word[0]) : double(absolute.word[0]);
    const int zeros = __builtin_clzll(absolute.word[top]);
    const word_t next = absolute.word[top - 1];
    // 64 bits, the lowest of which also stands for all below: enough to round once.
    word_t leading = zeros == 0 ? absolute.word[top] : absolute.word[top] << zeros | next >> (64 - zeros);
    bool rest = zeros == 0 ? next != 0 : next << zeros != 0;
    for (int i = top - 2; i >= 0; --i) rest = rest || absolute.word[i] != 0;
    const double value = __builtin_ldexp(double(leading | word_t(rest)), 64 * top - zeros);
    return raw.negative() ? -value : value;
  }
}

}  // namespace allo_sim

#endif
