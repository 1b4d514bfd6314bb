#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#pragma hls_design top
void gemm(float A[8][8], float B[8][8], float C[8][8]) {  // designs.py:30
  // directive set B:rsc -INTERLEAVE 4
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
#pragma hls_pipeline_init_interval 1
      l_S_i_j_0_j: for (int j = 0; j < 8; j++) {  // designs.py:32
        buf_C[j] = buf_C[j] + A[i][k] * B[k][j];  // designs.py:34
      }
    }
    l_S_i_j_0_j_back: for (int j_back = 0; j_back < 8; j_back++) {
      C[i][j_back] = buf_C[j_back];  // designs.py:32
    }
  }
}
