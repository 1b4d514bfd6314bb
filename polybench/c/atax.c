/* atax of PolyBench/C 4.2.1, looped as polybench/atax.py; -D gives extents, DATA_TYPE, RESTRICT. */
void atax(DATA_TYPE A[RESTRICT M][N], DATA_TYPE x[RESTRICT N], DATA_TYPE y[RESTRICT N], DATA_TYPE tmp[RESTRICT M]) {
  for (int j = 0; j < N; j++)
    y[j] = 0;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
}
