/* trmm of PolyBench/C 4.2.1, looped as polybench/trmm.py; -D gives extents, DATA_TYPE, RESTRICT. */
void trmm(DATA_TYPE alpha, DATA_TYPE A[RESTRICT M][M], DATA_TYPE B[RESTRICT M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
}
