/* bicg of PolyBench/C 4.2.1, looped as polybench/bicg.py; -D gives extents, DATA_TYPE, RESTRICT. */
void bicg(DATA_TYPE A[RESTRICT N][M], DATA_TYPE s[RESTRICT M], DATA_TYPE q[RESTRICT N], DATA_TYPE p[RESTRICT M],
          DATA_TYPE r[RESTRICT N]) {
  for (int j = 0; j < M; j++)
    s[j] = 0;
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < M; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
}
