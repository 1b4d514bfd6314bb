#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tapa.h>

void blur_kernel(int32_t A[10][10], int32_t B[8][8]) {  // designs.py:38
  l_B_init_0: for (int B_init_0 = 0; B_init_0 < 8; B_init_0++) {
    l_B_init_1: for (int B_init_1 = 0; B_init_1 < 8; B_init_1++) {
      B[B_init_0][B_init_1] = 0;  // designs.py:39
    }
  }
  int32_t A_reuse[3][10];
  l_S_y_x_0_y: for (int y = -2; y < 8; y++) {
    int32_t A_reuse_1[3][3];
#pragma HLS array_partition variable=A_reuse_1 complete dim=1
#pragma HLS array_partition variable=A_reuse_1 complete dim=2
    l_S_y_x_0_x: for (int x = -2; x < 8; x++) {  // designs.py:40
#pragma HLS pipeline II=1
      l_S_y_x_0_y_shift: for (int y_shift = 0; y_shift < 2; y_shift++) {
        A_reuse[y_shift][x + 2] = A_reuse[y_shift + 1][x + 2];  // designs.py:40
      }
      A_reuse[2][x + 2] = A[y + 2][x + 2];
      if (y >= 0) {
        l_S_y_x_0_r_fill: for (int r_fill = 0; r_fill < 3; r_fill++) {
          l_S_y_x_0_x_shift: for (int x_shift = 0; x_shift < 2; x_shift++) {
            A_reuse_1[r_fill][x_shift] = A_reuse_1[r_fill][x_shift + 1];
          }
          A_reuse_1[r_fill][2] = A_reuse[r_fill][x + 2];
        }
        if (x >= 0) {
          int32_t v = 0;  // designs.py:41
          l_S_y_x_0_r: for (int r = 0; r < 3; r++) {
            l_S_y_x_0_c: for (int c = 0; c < 3; c++) {  // designs.py:42
              v = v + A_reuse_1[r][c];  // designs.py:43
            }
          }
          B[y][x] = v;  // designs.py:44
        }
      }
    }
  }
}

void blur_task(tapa::mmap<int32_t> A_port, tapa::mmap<int32_t> B_port) {
  int32_t A[10][10];
  l_load_A: for (int i0 = 0; i0 < 10; i0++) {
    for (int i1 = 0; i1 < 10; i1++) {
#pragma HLS pipeline II=1
      A[i0][i1] = A_port[i0 * 10 + i1];
    }
  }
  int32_t B[8][8];
  blur_kernel(A, B);
  l_store_B: for (int i0 = 0; i0 < 8; i0++) {
    for (int i1 = 0; i1 < 8; i1++) {
#pragma HLS pipeline II=1
      B_port[i0 * 8 + i1] = B[i0][i1];
    }
  }
}

void blur(tapa::mmap<int32_t> A, tapa::mmap<int32_t> B) {  // designs.py:38
  tapa::task().invoke(blur_task, A, B);
}
