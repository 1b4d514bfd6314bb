#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <hls_stream.h>

void small_gemm_load_buf_A(const int32_t A[2][4], hls::stream<int32_t> fifo_buf_A[2][2]) {  // designs.py:83
#pragma HLS inline off
  l_load_buf_A_k_init: for (int k_init = 0; k_init < 4; k_init++) {
    l_load_buf_A_i: for (int i = 0; i < 2; i++) {
      fifo_buf_A[i][0].write(A[i][k_init]);  // designs.py:83
    }
  }
}

void small_gemm_load_buf_B(const int32_t B[4][2], hls::stream<int32_t> fifo_buf_B[2][2]) {  // designs.py:83
#pragma HLS inline off
  l_load_buf_B_k_init_1: for (int k_init_1 = 0; k_init_1 < 4; k_init_1++) {
    l_load_buf_B_j: for (int j = 0; j < 2; j++) {
      fifo_buf_B[0][j].write(B[k_init_1][j]);  // designs.py:83
    }
  }
}

void PE_0_0(int32_t &C, hls::stream<int32_t> &fifo_buf_A_in, hls::stream<int32_t> &fifo_buf_A_out, hls::stream<int32_t> &fifo_buf_B_in, hls::stream<int32_t> &fifo_buf_B_out) {  // designs.py:83
#pragma HLS inline off
  l_k: for (int k = 0; k < 4; k++) {  // designs.py:84
    int32_t t = C;  // designs.py:85
    int32_t t_1 = fifo_buf_A_in.read();
    fifo_buf_A_out.write(t_1);
    int32_t t_2 = fifo_buf_B_in.read();
    fifo_buf_B_out.write(t_2);
    C = t + t_1 * t_2;
  }
}

void PE_0_1(int32_t &C, hls::stream<int32_t> &fifo_buf_A_in, hls::stream<int32_t> &fifo_buf_B_in, hls::stream<int32_t> &fifo_buf_B_out) {  // designs.py:83
#pragma HLS inline off
  l_k: for (int k = 0; k < 4; k++) {  // designs.py:84
    int32_t t = C;  // designs.py:85
    int32_t t_1 = fifo_buf_A_in.read();
    int32_t t_2 = fifo_buf_B_in.read();
    fifo_buf_B_out.write(t_2);
    C = t + t_1 * t_2;
  }
}

void PE_1_0(int32_t &C, hls::stream<int32_t> &fifo_buf_A_in, hls::stream<int32_t> &fifo_buf_A_out, hls::stream<int32_t> &fifo_buf_B_in) {  // designs.py:83
#pragma HLS inline off
  l_k: for (int k = 0; k < 4; k++) {  // designs.py:84
    int32_t t = C;  // designs.py:85
    int32_t t_1 = fifo_buf_A_in.read();
    fifo_buf_A_out.write(t_1);
    int32_t t_2 = fifo_buf_B_in.read();
    C = t + t_1 * t_2;
  }
}

void PE_1_1(int32_t &C, hls::stream<int32_t> &fifo_buf_A_in, hls::stream<int32_t> &fifo_buf_B_in) {  // designs.py:83
#pragma HLS inline off
  l_k: for (int k = 0; k < 4; k++) {  // designs.py:84
    int32_t t = C;  // designs.py:85
    int32_t t_1 = fifo_buf_A_in.read();
    int32_t t_2 = fifo_buf_B_in.read();
    C = t + t_1 * t_2;
  }
}

void small_gemm(int32_t A[2][4], int32_t B[4][2], int32_t C[2][2]) {  // designs.py:82
#pragma HLS array_partition variable=C complete dim=1
#pragma HLS array_partition variable=C complete dim=2
#pragma HLS dataflow
  hls::stream<int32_t> fifo_buf_A[2][2];
#pragma HLS stream variable=fifo_buf_A depth=3
  small_gemm_load_buf_A(A, fifo_buf_A);  // designs.py:83
  hls::stream<int32_t> fifo_buf_B[2][2];
#pragma HLS stream variable=fifo_buf_B depth=3
  small_gemm_load_buf_B(B, fifo_buf_B);
  PE_0_0(C[0][0], fifo_buf_A[0][0], fifo_buf_A[0][1], fifo_buf_B[0][0], fifo_buf_B[1][0]);
  PE_0_1(C[0][1], fifo_buf_A[0][1], fifo_buf_B[0][1], fifo_buf_B[1][1]);
  PE_1_0(C[1][0], fifo_buf_A[1][0], fifo_buf_A[1][1], fifo_buf_B[1][0]);
  PE_1_1(C[1][1], fifo_buf_A[1][1], fifo_buf_B[1][1]);
}
