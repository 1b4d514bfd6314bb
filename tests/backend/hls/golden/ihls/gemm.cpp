#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <HLS/hls.h>

component void gemm(float A[8][8], float B[8][8], float C[8][8]) {  // designs.py:30
  l_C_init_0: for (int C_init_0 = 0; C_init_0 < 8; C_init_0++) {
    l_C_init_1: for (int C_init_1 = 0; C_init_1 < 8; C_init_1++) {
      C[C_init_0][C_init_1] = 0.0f;  // designs.py:31
    }
  }
  l_S_i_j_0_i: for (int i = 0; i < 8; i++) {
    l_S_i_j_0_j: for (int j = 0; j < 8; j++) {  // designs.py:32
      l_S_i_j_0_k: for (int k = 0; k < 8; k++) {  // designs.py:33
        C[i][j] = C[i][j] + A[i][k] * B[k][j];  // designs.py:34
      }
    }
  }
}
