// Decides the arithmetic of numbers of more than 128 bits: two's complement in words of 64 bits, the lowest first.
#ifndef ALLO_SIM_WIDE_H
#define ALLO_SIM_WIDE_H

#include <cstdint>

#include "errors.h"

namespace allo_sim {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
using word_t = std::uint64_t;

/// 64 N bits; S says whether wider numbers continue it by its sign or by zeros.
template <int N, bool S>
struct wide {
  word_t word[N]{};

  constexpr bool negative() const { return S && (word[N - 1] >> 63) != 0; }
  constexpr word_t fill() const { return negative() ? ~word_t(0) : word_t(0); }
};

template <int N, bool S>
constexpr wide<N, S> add(const wide<N, S> &a, const wide<N, S> &b) {
  wide<N, S> sum;
  uint128 carry = 0;
  for (int i = 0; i < N; ++i) {
    carry += uint128(a.word[i]) + b.word[i];
    sum.word[i] = word_t(carry);
    carry >>= 64;
  }
  return sum;
}

template <int N, bool S>
constexpr wide<N, S> sub(const wide<N, S> &a, const wide<N, S> &b) {
  wide<N, S> difference;
  word_t borrow = 0;
  for (int i = 0; i < N; ++i) {
    uint128 next = uint128(a.word[i]) - b.word[i] - borrow;
    difference.word[i] = word_t(next);
    borrow = word_t(next >> 64) & 1;
  }
  return difference;
}

/// The low 64 N bits of the product, which are the same for signed and unsigned factors.
template <int N, bool S>
constexpr wide<N, S> mul(const wide<N, S> &a, const wide<N, S> &b) {
  wide<N, S> product;
  for (int i = 0; i < N; ++i) {
    if (a.word[i] == 0) continue;
    uint128 carry = 0;
    for (int j = 0; i + j < N; ++j) {
      carry += uint128(a.word[i]) * b.word[j] + product.word[i + j];
      product.word[i + j] = word_t(carry);
      carry >>= 64;
    }
  }
  return product;
}

template <int N, bool S>
constexpr wide<N, S> bit_and(wide<N, S> a, const wide<N, S> &b) {
  for (int i = 0; i < N; ++i) a.word[i] &= b.word[i];
  return a;
}

template <int N, bool S>
constexpr wide<N, S> bit_or(wide<N, S> a, const wide<N, S> &b) {
  for (int i = 0; i < N; ++i) a.word[i] |= b.word[i];
  return a;
}

template <int N, bool S>
constexpr wide<N, S> bit_xor(wide<N, S> a, const wide<N, S> &b) {
  for (int i = 0; i < N; ++i) a.word[i] ^= b.word[i];
  return a;
}

template <int N, bool S>
constexpr wide<N, S> bit_not(wide<N, S> a) {
  for (int i = 0; i < N; ++i) a.word[i] = ~a.word[i];
  return a;
}

/// For 0 <= amount < 64 N.
template <int N, bool S>
constexpr wide<N, S> shift_left(const wide<N, S> &a, int amount) {
  wide<N, S> shifted;
  const int words = amount / 64;
  const int bits = amount % 64;
  for (int i = N - 1; i >= words; --i) {
    word_t low = bits != 0 && i > words ? a.word[i - words - 1] >> (64 - bits) : 0;
    shifted.word[i] = a.word[i - words] << bits | low;
  }
  return shifted;
}

/// For 0 <= amount < 64 N; signed numbers are filled with their sign.
template <int N, bool S>
constexpr wide<N, S> shift_right(const wide<N, S> &a, int amount) {
  wide<N, S> shifted;
  const int words = int(unsigned(amount) / 64 % (2 * N));  // as compilers follow it: never in front of the words
  const int bits = amount % 64;
  for (int i = 0; i < N; ++i) {
    const word_t own = i + words < N ? a.word[i + words] : a.fill();
    const word_t next = i + words + 1 < N ? a.word[i + words + 1] : a.fill();
    shifted.word[i] = bits == 0 ? own : own >> bits | next << (64 - bits);
  }
  return shifted;
}

template <int N, bool S>
constexpr bool equal(const wide<N, S> &a, const wide<N, S> &b) {
  for (int i = 0; i < N; ++i)
    if (a.word[i] != b.word[i]) return false;
  return true;
}

template <int N, bool S>
constexpr bool less(const wide<N, S> &a, const wide<N, S> &b) {
  if (a.negative() != b.negative()) return a.negative();
  for (int i = N - 1; i >= 0; --i)
    if (a.word[i] != b.word[i]) return a.word[i] < b.word[i];
  return false;
}

/// How many digits of 32 bits the number has without leading zeros.
template <int D>
constexpr int digits(const std::uint32_t (&digit)[D]) {
  int count = D;
  while (count > 0 && digit[count - 1] == 0) --count;
  return count;
}

/// Long division in base 2**32 of non-negative numbers (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
template <int N>
class long_division {
 public:
  wide<N, false> quotient;
  wide<N, false> remainder;

  constexpr long_division(const wide<N, false> &dividend, const wide<N, false> &divisor) {
    for (int i = 0; i < 2 * N; ++i) {
      left[i] = std::uint32_t(dividend.word[i / 2] >> (i % 2 * 32));
      right[i] = std::uint32_t(divisor.word[i / 2] >> (i % 2 * 32));
    }
    const int length = digits(right);
    if (length == 0) division_by_zero();
    normalise(length);
    for (int place = 2 * N - length; place >= 0; --place) {
      const word_t digit = next_digit(place, length);
      quotient.word[place / 2] |= digit << (place % 2 * 32);
    }
    for (int i = 0; i < length; ++i) {
      const word_t above = shift == 0 ? 0 : word_t(left[i + 1]) << (32 - shift);
      remainder.word[i / 2] |= (word_t(left[i]) >> shift | (above & 0xffffffffu)) << (i % 2 * 32);
    }
  }

 private:
  std::uint32_t left[2 * N + 1]{};
  std::uint32_t right[2 * N]{};
  int shift = 0;

  /// Shift both so that the highest digit of the divisor has its highest bit.
  constexpr void normalise(int length) {
    while ((right[length - 1] << shift & 0x80000000u) == 0) ++shift;
    if (shift == 0) return;
    for (int i = 2 * N; i > 0; --i) left[i] = left[i] << shift | left[i - 1] >> (32 - shift);
    left[0] <<= shift;
    for (int i = length - 1; i > 0; --i) right[i] = right[i] << shift | right[i - 1] >> (32 - shift);
    right[0] <<= shift;
  }

  /// One digit of the quotient; what is left of the dividend stays in `left`.
  constexpr word_t next_digit(int place, int length) {
    const word_t high = word_t(left[place + length]) << 32 | left[place + length - 1];
    word_t digit = high / right[length - 1];
    word_t rest = high % right[length - 1];
    while (digit >> 32 != 0 ||
           (length > 1 && digit * right[length - 2] > (rest << 32 | left[place + length - 2]))) {
      --digit;
      rest += right[length - 1];
      if (rest >> 32 != 0) break;
    }
    std::int64_t borrow = 0;
    word_t carry = 0;
    for (int i = 0; i < length; ++i) {
      carry += digit * right[i];
      const std::int64_t next = std::int64_t(left[place + i]) - std::int64_t(carry & 0xffffffffu) + borrow;
      left[place + i] = std::uint32_t(next);
      borrow = next >> 32;
      carry >>= 32;
    }
    const std::int64_t top = std::int64_t(left[place + length]) - std::int64_t(carry) + borrow;
    left[place + length] = std::uint32_t(top);
    if (top >= 0) return digit;
    word_t back = 0;  // the digit was one too large
    for (int i = 0; i < length; ++i) {
      back += word_t(left[place + i]) + right[i];
      left[place + i] = std::uint32_t(back);
      back >>= 32;
    }
    left[place + length] += std::uint32_t(back);
    return digit - 1;
  }
};

template <int N, bool S>
constexpr wide<N, false> magnitude(const wide<N, S> &a) {
  const wide<N, S> positive = a.negative() ? sub(wide<N, S>(), a) : a;
  wide<N, false> same;
  for (int i = 0; i < N; ++i) same.word[i] = positive.word[i];
  return same;
}

template <int N, bool S>
constexpr wide<N, S> with_sign(const wide<N, false> &a, bool negative) {
  wide<N, S> same;
  for (int i = 0; i < N; ++i) same.word[i] = a.word[i];
  return negative ? sub(wide<N, S>(), same) : same;
}

/// Toward zero, as in C.
template <int N, bool S>
constexpr wide<N, S> divide(const wide<N, S> &a, const wide<N, S> &b) {
  return with_sign<N, S>(long_division<N>(magnitude(a), magnitude(b)).quotient, a.negative() != b.negative());
}

/// With the sign of the dividend, as in C.
template <int N, bool S>
constexpr wide<N, S> modulo(const wide<N, S> &a, const wide<N, S> &b) {
  return with_sign<N, S>(long_division<N>(magnitude(a), magnitude(b)).remainder, a.negative());
}

}  // namespace allo_sim

#endif
