/* gemm of PolyBench/C 4.2.1, looped as polybench/gemm.py; -D gives extents, DATA_TYPE, RESTRICT. */
void gemm(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[RESTRICT NI][NJ], DATA_TYPE A[RESTRICT NI][NK],
          DATA_TYPE B[RESTRICT NK][NJ]) {
  for (int i = 0; i < NI; i++) {
    for (int j = 0; j < NJ; j++)
      C[i][j] *= beta;
    for (int k = 0; k < NK; k++)
      for (int j = 0; j < NJ; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
