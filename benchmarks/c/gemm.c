/* gemm of PolyBench/C 4.2.1, the loop nest of polybench/gemm.py; NI, NJ, NK and RESTRICT come from the command line. */
void gemm(float alpha, float beta, float C[RESTRICT NI][NJ], float A[RESTRICT NI][NK], float B[RESTRICT NK][NJ]) {
  for (int i = 0; i < NI; i++) {
    for (int j = 0; j < NJ; j++)
      C[i][j] *= beta;
    for (int k = 0; k < NK; k++)
      for (int j = 0; j < NJ; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
