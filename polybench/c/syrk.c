/* syrk of PolyBench/C 4.2.1, looped as polybench/syrk.py; -D gives extents, DATA_TYPE, RESTRICT. */
void syrk(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[RESTRICT N][N], DATA_TYPE A[RESTRICT N][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
}
