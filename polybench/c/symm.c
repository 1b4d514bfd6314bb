/* symm of PolyBench/C 4.2.1, looped as polybench/symm.py; -D gives extents, DATA_TYPE, RESTRICT. */
void symm(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[RESTRICT M][N], DATA_TYPE A[RESTRICT M][M],
          DATA_TYPE B[RESTRICT M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      DATA_TYPE temp2 = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        temp2 += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
    }
}
