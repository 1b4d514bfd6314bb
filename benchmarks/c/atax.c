/* atax of PolyBench/C 4.2.1, the loop nests of polybench/atax.py; M, N and RESTRICT come from the command line. */
void atax(float A[RESTRICT M][N], float x[RESTRICT N], float y[RESTRICT N], float tmp[RESTRICT M]) {
  for (int j = 0; j < N; j++)
    y[j] = 0.0f;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0.0f;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
}
