#include "kernel.h"

void gemm(float A[8][8], float B[8][8], float C[8][8]) {  // designs.py:30
#pragma HLS array_partition variable=B cyclic dim=2 factor=4
  l_C_init_0: for (int C_init_0 = 0; C_init_0 < 8; C_init_0++) {
    l_C_init_1: for (int C_init_1 = 0; C_init_1 < 8; C_init_1++) {
      C[C_init_0][C_init_1] = 0.0f;  // designs.py:31
    }
  }
  l_S_i_j_0_i: for (int i = 0; i < 8; i++) {
    float buf_C[8];
    l_S_i_j_0_j_init: for (int j_init = 0; j_init < 8; j_init++) {
      buf_C[j_init] = C[i][j_init];  // designs.py:32
    }
    l_S_i_j_0_k: for (int k = 0; k < 8; k++) {  // designs.py:33
      l_S_i_j_0_j: for (int j = 0; j < 8; j++) {  // designs.py:32
#pragma HLS pipeline II=1
        buf_C[j] = buf_C[j] + A[i][k] * B[k][j];  // designs.py:34
      }
    }
    l_S_i_j_0_j_back: for (int j_back = 0; j_back < 8; j_back++) {
      C[i][j_back] = buf_C[j_back];  // designs.py:32
    }
  }
}

// the bits of floating-point numbers, and back
static inline uint32_t bits_of(float value) {
#pragma HLS inline
  union { float number; uint32_t bits; } both;
  both.number = value;
  return both.bits;
}
static inline float float_of(uint32_t bits) {
#pragma HLS inline
  union { float number; uint32_t bits; } both;
  both.bits = bits;
  return both.number;
}
static inline uint64_t bits_of(double value) {
#pragma HLS inline
  union { double number; uint64_t bits; } both;
  both.number = value;
  return both.bits;
}
static inline double double_of(uint64_t bits) {
#pragma HLS inline
  union { double number; uint64_t bits; } both;
  both.bits = bits;
  return both.number;
}

// burst from memory into the array on chip
static void load_A(const float *memory, float array[8][8]) {
#pragma HLS inline off
  l_load_A_i0: for (int i0 = 0; i0 < 8; i0++) {
    l_load_A_i1: for (int i1 = 0; i1 < 8; i1++) {
#pragma HLS pipeline II=1
      array[i0][i1] = memory[i0 * 8 + i1];
    }
  }
}

// burst from memory into the array on chip, 4 elements a word
static void load_B(const ap_uint<128> *memory, float array[8][8]) {
#pragma HLS inline off
#pragma HLS array_partition variable=array cyclic dim=2 factor=4
  l_load_B_i0: for (int i0 = 0; i0 < 8; i0++) {
    l_load_B_w: for (int w = 0; w < 2; w++) {
#pragma HLS pipeline II=1
      const ap_uint<128> word = memory[i0 * 2 + w];
      for (int lane = 0; lane < 4; lane++) {
#pragma HLS unroll
        array[i0][w * 4 + lane] = float_of(uint32_t(ap_uint<32>(word.range(lane * 32 + 31, lane * 32))));
      }
    }
  }
}

// burst from the array on chip into memory
static void store_C(float array[8][8], float *memory) {
#pragma HLS inline off
  l_store_C_i0: for (int i0 = 0; i0 < 8; i0++) {
    l_store_C_i1: for (int i1 = 0; i1 < 8; i1++) {
#pragma HLS pipeline II=1
      memory[i0 * 8 + i1] = array[i0][i1];
    }
  }
}

extern "C" void gemm_top(const float *A, const ap_uint<128> *B, float *C) {
#pragma HLS interface m_axi port=A offset=slave bundle=gmem0 depth=64 max_read_burst_length=64
#pragma HLS interface m_axi port=B offset=slave bundle=gmem1 depth=16
#pragma HLS interface m_axi port=C offset=slave bundle=gmem2 depth=64 max_write_burst_length=64
#pragma HLS interface s_axilite port=A bundle=control
#pragma HLS interface s_axilite port=B bundle=control
#pragma HLS interface s_axilite port=C bundle=control
#pragma HLS interface s_axilite port=return bundle=control
  float local_A[8][8];
  load_A(A, local_A);
  float local_B[8][8];
#pragma HLS array_partition variable=local_B cyclic dim=2 factor=4
  load_B(B, local_B);
  float local_C[8][8];
  gemm(local_A, local_B, local_C);
  store_C(local_C, C);
}
