// Kernels for the vector unit of cores: products of matrices in blocks of native shapes, and functions of lanes.
#pragma once

#include <aie_api/aie.hpp>
#include <stdint.h>
#include <type_traits>

// Compilers for cores start iterations of a loop before earlier ones have ended.
#if defined(__chess__)
#define ALLO_PIPELINED(least) [[chess::prepare_for_pipelining]] [[chess::min_loop_count(least)]]
#elif defined(__AIECC__) || defined(__aie2__) || defined(__AIENGINE__)
#define ALLO_PRAGMA(text) _Pragma(#text)
#define ALLO_PIPELINED(least) ALLO_PRAGMA(clang loop min_iteration_count(least))
#else
#define ALLO_PIPELINED(least)
#endif

namespace allo_kernels {
enum class Start { zero, sums };

inline void set_modes() {
  aie::set_rounding(aie::rounding_mode::conv_even);
  aie::set_saturation(aie::saturation_mode::none);
}

// Block number `place` of `count` numbers of type T; those of four bits are two in a byte.
template <typename T, unsigned count, typename Stored> inline aie::vector<T, count> block_at(const Stored *from, unsigned place) {
  if constexpr (std::is_same<T, Stored>::value)
    return aie::load_v<count>(from + place * count);
  else
    return aie::load_v<count / 2>(from + place * (count / 2)).template cast_to<T>();
}

// Bytes of numbers of four bits.
template <unsigned lanes, unsigned count> inline void widen(const int8_t *__restrict from, int8_t *__restrict to) {
  ALLO_PIPELINED(count / lanes)
  for (unsigned i = 0; i < count / lanes; ++i)
    aie::store_v(to + i * lanes, aie::unpack(block_at<int4, lanes>(from, i)));
}

// c = a * b, or start + a * b. All are made of blocks: a of m x k, row by row of blocks, b of k x n, the others of
// m x n. `rows x columns` accumulators take the products of as many blocks of each factor, so that each block that is
// loaded is used more than once. Blocks of b that are `turned` are columns one after the other; its
// numbers are of type TB.
template <unsigned m, unsigned k, unsigned n, unsigned M, unsigned K, unsigned N, Start start, bool turned, typename TB,
          typename T, typename Stored, typename TC>
inline void product(const T *__restrict a, const Stored *__restrict b, const TC *from, TC *c) {
  using Block = aie::mmul<m, k, n, T, TB>;
  constexpr unsigned up = M / m, along = K / k, across = N / n;
  constexpr unsigned rows = up % 2 ? 1 : 2, columns = across % 2 ? 1 : 2;
  static_assert(M % m == 0 && K % k == 0 && N % n == 0, "matrices are made of blocks");
  for (unsigned i = 0; i < up; i += rows)
    for (unsigned j = 0; j < across; j += columns) {
      Block sums[rows][columns];
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned s = 0; s < columns; ++s)
          if constexpr (start == Start::sums)
            sums[r][s] = Block(aie::load_v<m * n>(from + ((i + r) * across + j + s) * m * n));
          else
            sums[r][s] = Block(aie::zeros<TC, m * n>());
      ALLO_PIPELINED(along)
      for (unsigned l = 0; l < along; ++l) {
        aie::vector<T, m * k> left[rows];
        aie::vector<TB, k * n> right[columns];
        for (unsigned r = 0; r < rows; ++r)
          left[r] = aie::load_v<m * k>(a + ((i + r) * along + l) * m * k);
        for (unsigned s = 0; s < columns; ++s) {
          right[s] = block_at<TB, k * n>(b, l * across + j + s);
          if constexpr (turned)
            right[s] = aie::transpose(right[s], n, k);
        }
        for (unsigned r = 0; r < rows; ++r)
          for (unsigned s = 0; s < columns; ++s)
            sums[r][s].mac(left[r], right[s]);
      }
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned s = 0; s < columns; ++s)
          aie::store_v(c + ((i + r) * across + j + s) * m * n, sums[r][s].template to_vector<TC>());
    }
}

template <typename T, unsigned N> inline aie::vector<T, N> times(const aie::vector<T, N> &a, const aie::vector<T, N> &b) {
  return aie::mul(a, b).template to_vector<T>();
}

// e to the power of x: 2 to the nearest integer of x / ln 2 as bits of a float, and a polynomial for the rest.
template <unsigned N> inline aie::vector<float, N> exp(const aie::vector<float, N> &x) {
  using V = aie::vector<float, N>;
  auto all = [](float value) { return aie::broadcast<float, N>(value); };
  V inside = aie::max(aie::min(x, all(88.02f)), all(-87.0f));
  aie::vector<int32_t, N> whole = aie::to_fixed<int32_t>(times(inside, all(1.44269504f)));
  V count = aie::to_float<float>(whole);
  V rest = aie::sub(aie::sub(inside, times(count, all(0.693359375f))), times(count, all(-2.12194440e-4f)));
  V sum = all(1.0f / 720);
  const float terms[] = {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
  for (float term : terms)
    sum = aie::add(times(sum, rest), all(term));
  V power = aie::upshift(aie::add(whole, aie::broadcast<int32_t, N>(127)), 23).template cast_to<float>();
  return aie::select(times(sum, power), aie::zeros<float, N>(), aie::lt(x, all(-87.0f)));
}

// Lanes as another type: integers by their lower bits, floats rounded to even.
template <typename To, typename From, unsigned N> inline aie::vector<To, N> lanes_as(const aie::vector<From, N> &x) {
  using Float = std::is_same<To, float>;
  constexpr bool is_float = Float::value || std::is_same<To, bfloat16>::value;
  if constexpr (std::is_same<To, From>::value) {
    return x;
  } else if constexpr (is_float) {
    aie::accum<accfloat, N> sum;
    sum.from_vector(x);
    return sum.template to_vector<To>();
  } else {
    aie::accum<acc64, N> sum;
    sum.from_vector(x);
    return sum.template to_vector<To>();
  }
}

// Functions of floats, lane by lane; those of bfloat16 are computed as floats.
template <typename T, unsigned N> inline aie::vector<T, N> exp_of(const aie::vector<T, N> &x) {
  return lanes_as<T>(allo_kernels::exp(lanes_as<float>(x)));
}
template <typename T, unsigned N> inline aie::vector<T, N> quotient(const aie::vector<T, N> &a, const aie::vector<T, N> &b) {
  return lanes_as<T>(times(lanes_as<float>(a), aie::inv(lanes_as<float>(b))));
}
template <typename T, unsigned N> inline aie::vector<T, N> sqrt_of(const aie::vector<T, N> &x) {
  return lanes_as<T>(aie::sqrt(lanes_as<float>(x)));
}
template <typename T, unsigned N> inline aie::vector<T, N> rsqrt_of(const aie::vector<T, N> &x) {
  return lanes_as<T>(aie::invsqrt(lanes_as<float>(x)));
}
template <typename T, unsigned N> inline aie::vector<T, N> tanh_of(const aie::vector<T, N> &x) {
  auto one = aie::broadcast<float, N>(1.0f), wide = lanes_as<float>(x);
  auto power = allo_kernels::exp(aie::add(wide, wide));
  return lanes_as<T>(aie::sub(one, times(aie::broadcast<float, N>(2.0f), aie::inv(aie::add(power, one)))));
}
} // namespace allo_kernels
