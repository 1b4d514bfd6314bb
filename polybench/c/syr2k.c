/* syr2k of PolyBench/C 4.2.1, looped as polybench/syr2k.py; -D gives extents, DATA_TYPE, RESTRICT. */
void syr2k(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[RESTRICT N][N], DATA_TYPE A[RESTRICT N][M],
           DATA_TYPE B[RESTRICT N][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}
