/* mvt of PolyBench/C 4.2.1, looped as polybench/mvt.py; -D gives extents, DATA_TYPE, RESTRICT. */
void mvt(DATA_TYPE x1[RESTRICT N], DATA_TYPE x2[RESTRICT N], DATA_TYPE y1[RESTRICT N], DATA_TYPE y2[RESTRICT N],
         DATA_TYPE A[RESTRICT N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x1[i] = x1[i] + A[i][j] * y1[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x2[i] = x2[i] + A[j][i] * y2[j];
}
