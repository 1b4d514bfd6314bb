/* gemver of PolyBench/C 4.2.1, looped as polybench/gemver.py; -D gives extents, DATA_TYPE, RESTRICT. */
void gemver(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[RESTRICT N][N], DATA_TYPE u1[RESTRICT N],
            DATA_TYPE v1[RESTRICT N], DATA_TYPE u2[RESTRICT N], DATA_TYPE v2[RESTRICT N], DATA_TYPE w[RESTRICT N],
            DATA_TYPE x[RESTRICT N], DATA_TYPE y[RESTRICT N], DATA_TYPE z[RESTRICT N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] = x[i] + beta * A[j][i] * y[j];
  for (int i = 0; i < N; i++)
    x[i] = x[i] + z[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      w[i] = w[i] + alpha * A[i][j] * x[j];
}
