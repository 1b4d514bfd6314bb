// Kernels as programs for cores have them, for the vector API and tables of AMD's compilers.
#include "vector_kernels.h"
#include "lut_based_ops.h"
#include <aie_api/aie.hpp>
#include <algorithm>
#include <stdint.h>

template <typename T, int ROWS, int COLUMNS> void rms_norm_rows(T *x, T *weights, T *y) {
  constexpr int LANES = 16;
  using Vector = aie::vector<T, LANES>;
  event0();
  for (int row = 0; row < ROWS; row++) {
    T *__restrict from = x + row * COLUMNS;
    T *restrict to = y + row * COLUMNS;
    aie::accum<accfloat, LANES> squares = aie::zeros<accfloat, LANES>();
    for (int i = 0; i < COLUMNS; i += LANES)
      chess_prepare_for_pipelining chess_loop_range(2, ) {
        Vector v = aie::load_v<LANES>(from + i);
        squares = aie::mac(squares, v, v);
      }
    float mean = aie::reduce_add(squares.template to_vector<float>()) / COLUMNS + EPSILON;
    Vector scale = aie::invsqrt(aie::broadcast<T, LANES>(mean));
    for (int i = 0; i < COLUMNS; i += LANES) {
      Vector normal = aie::mul(aie::load_v<LANES>(from + i), scale);
      Vector weighted = aie::mul(normal, aie::load_v<LANES>(weights + i));
      aie::store_v(to + i, weighted);
    }
  }
  event1();
}

extern "C" {
void rms_norm(float x[4][64], float weights[64], float y[4][64]) {
  rms_norm_rows<float, 4, 64>(&x[0][0], weights, &y[0][0]);
}

void softmax(bfloat16 x[4][64], bfloat16 y[4][64]) {
  for (int row = 0; row < 4; row++) {
    auto from = aie::cbegin_vector<16>(&x[row][0]);
    auto to = aie::begin_restrict_vector<16>(&y[row][0]);
    float most = -1000.0f;
    for (int i = 0; i < 4; i++)
      most = std::max(most, float(aie::reduce_max(*from++)));
    from = aie::cbegin_vector<16>(&x[row][0]);
    aie::accum<accfloat, 16> sums;
    for (int i = 0; i < 4; i++) {
      v16bfloat16 power = to_v16bfloat16(getExpBf16(aie::sub(*from++, bfloat16(most))));
      sums = aie::add(sums, power);
      *to++ = power;
    }
    bfloat16 scale = getInvBf16(aie::reduce_add(sums.to_vector<float>()));
    auto again = aie::cbegin_vector<16>(&y[row][0]);
    to = aie::begin_restrict_vector<16>(&y[row][0]);
    for (int i = 0; i < 4; i++)
      *to++ = aie::mul(*again++, scale).to_vector<bfloat16>();
  }
}

// Products of blocks, a clamp and a comparison: numbers beside lanes on both sides.
void clamped_product(int16_t a[4][4], int16_t b[4][4], int32_t c[4][4]) {
  using Block = aie::mmul<4, 4, 4, int16_t, int16_t, accauto>;
  Block block;
  block.mul(aie::load_v<Block::size_A>(&a[0][0]), aie::load_v<Block::size_B>(&b[0][0]));
  aie::vector<int32_t, 16> sums = block.to_vector<int32_t>();
  aie::mask<int32_t, 16> high = aie::gt(sums, 50);
  sums = aie::select(aie::max(sums, -50), aie::broadcast<int32_t, 16>(50), high);
  aie::vector<int32_t, 8> lower = sums.extract<8>(0), upper = sums.extract<8>(1);
  aie::store_v(&c[0][0], aie::concat(lower, aie::reverse(aie::reverse(upper))));
}
}
