// Kernels of contractions on tiles of bfloat16 in blocks of the vector unit: products with edges, first and last values.
#pragma once

#include "allo_kernels.h"

namespace allo_kernels {
// Blocks `step` and `step + 1` of K as one of the vector unit: from one place if K has blocks of 8, else two blocks of 4,
// `far` elements apart, of which the last step may have one alone. `inside`: K is what a block has behind each other.
template <unsigned K, bool inside>
inline aie::vector<bfloat16, 32> factor(const bfloat16 *__restrict from, unsigned step, unsigned far) {
  if constexpr (K % 8 == 0) {
    return aie::load_v<32>(from + step * 2 * far);
  } else {
    const auto first = aie::load_v<16>(from + 2 * step * far);
    const auto second = 2 * step + 1 < K / 4 ? aie::load_v<16>(from + (2 * step + 1) * far) : aie::zeros<bfloat16, 16>();
    if constexpr (!inside)
      return aie::concat(first, second);
    const auto [low, high] = aie::interleave_zip(first, second, 4);
    return aie::concat(low, high);
  }
}

// `rows x columns` blocks of 4 x 4 of c, from block (i, j) on: they are read once, take the products of all of K, and are
// written once. Blocks that are turned have their columns one behind the other; products of a c that is turned are those
// of its transpose, so that no block of it is turned.
template <unsigned rows, unsigned columns, unsigned K, unsigned N, bool turned_a, bool turned_b, bool turned_c>
inline void gemm_part(const bfloat16 *__restrict a, const bfloat16 *__restrict b, bfloat16 *__restrict c, unsigned i,
                      unsigned j) {
  using Block = aie::mmul<4, 8, 4, bfloat16, bfloat16>;
  constexpr unsigned along = (K + 7) / 8, across = N / 4;
  Block sums[rows][columns];
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned s = 0; s < columns; ++s)
      sums[r][s] = Block(aie::load_v<16>(c + ((i + r) * across + j + s) * 16));
  ALLO_PIPELINED(along)
  for (unsigned l = 0; l < along; ++l) {
    aie::vector<bfloat16, 32> left[rows], right[columns];
    for (unsigned r = 0; r < rows; ++r) {
      left[r] = factor<K, !turned_a>(a + (i + r) * K * 4, l, 16);
      if constexpr (turned_a != turned_c)
        left[r] = turned_a ? aie::transpose(left[r], 8, 4) : aie::transpose(left[r], 4, 8);
    }
    for (unsigned s = 0; s < columns; ++s) {
      right[s] = factor<K, turned_b>(b + (j + s) * (K % 8 == 0 ? 32 : 16), l, across * 16);
      if constexpr (turned_b != turned_c)
        right[s] = turned_b ? aie::transpose(right[s], 4, 8) : aie::transpose(right[s], 8, 4);
    }
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned s = 0; s < columns; ++s)
        if constexpr (turned_c)
          sums[r][s].mac(right[s], left[r]);
        else
          sums[r][s].mac(left[r], right[s]);
  }
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned s = 0; s < columns; ++s)
      aie::store_v(c + ((i + r) * across + j + s) * 16, sums[r][s].template to_vector<bfloat16>());
}

// Some rows of blocks: four columns at a time, and those that are left.
template <unsigned rows, unsigned K, unsigned N, bool turned_a, bool turned_b, bool turned_c>
inline void gemm_rows(const bfloat16 *__restrict a, const bfloat16 *__restrict b, bfloat16 *__restrict c, unsigned i) {
  constexpr unsigned whole = N / 16 * 4, left = N / 4 % 4;
  for (unsigned j = 0; j < whole; j += 4)
    gemm_part<rows, 4, K, N, turned_a, turned_b, turned_c>(a, b, c, i, j);
  if constexpr (left != 0)
    gemm_part<rows, left, K, N, turned_a, turned_b, turned_c>(a, b, c, i, whole);
}

// c += a * b for matrices of M x K, K x N and M x N. Blocks are 4 x 8 (`mkrs`), 8 x 4 (`knst`) and 4 x 4 (`mnrt`); 4 x 4
// where 8 does not divide K.
template <unsigned M, unsigned K, unsigned N, bool turned_a, bool turned_b, bool turned_c>
inline void gemm_blocks(const bfloat16 *__restrict a, const bfloat16 *__restrict b, bfloat16 *__restrict c) {
  static_assert(M % 4 == 0 && K % 4 == 0 && N % 4 == 0, "matrices are made of blocks");
  constexpr unsigned whole = M / 16 * 4, left = M / 4 % 4;
  set_modes();
  for (unsigned i = 0; i < whole; i += 4)
    gemm_rows<4, K, N, turned_a, turned_b, turned_c>(a, b, c, i);
  if constexpr (left != 0)
    gemm_rows<left, K, N, turned_a, turned_b, turned_c>(a, b, c, whole);
}

template <unsigned size> inline void zero_blocks(bfloat16 *__restrict c) {
  for (unsigned k = 0; k < size; k += 16)
    aie::store_v(c + k, aie::zeros<bfloat16, 16>());
}

template <unsigned size> inline void relu_blocks(bfloat16 *__restrict c) {
  for (unsigned k = 0; k < size; k += 16)
    aie::store_v(c + k, aie::max(aie::load_v<16>(c + k), aie::zeros<bfloat16, 16>()));
}

// First values of c, which come in blocks of 8 x 4, the upper half of one before its lower half, or of 4 x 4.
template <unsigned M, unsigned N, bool relu> inline void first_blocks(const bfloat16 *__restrict from, bfloat16 *__restrict c) {
  static_assert(M % 4 == 0 && N % 4 == 0, "matrices are made of blocks");
  constexpr unsigned high = M % 8 == 0 ? 2 : 1; // blocks of 4 x 4 in one that comes
  for (unsigned i = 0; i < M / 4; ++i)
    for (unsigned j = 0; j < N / 4; ++j) {
      auto block = aie::load_v<16>(from + ((i / high * (N / 4) + j) * high + i % high) * 16);
      if constexpr (relu)
        block = aie::max(block, aie::zeros<bfloat16, 16>());
      aie::store_v(c + (i * (N / 4) + j) * 16, block);
    }
}
} // namespace allo_kernels
