/* trisolv of PolyBench/C 4.2.1, looped as polybench/trisolv.py; -D gives extents, DATA_TYPE, RESTRICT. */
void trisolv(DATA_TYPE L[RESTRICT N][N], DATA_TYPE x[RESTRICT N], DATA_TYPE b[RESTRICT N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
