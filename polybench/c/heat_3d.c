/* heat-3d of PolyBench/C 4.2.1, looped as polybench/heat_3d.py; -D gives extents, DATA_TYPE, RESTRICT. */
#define NEXT(X, i, j, k)                                                                                               \
  (eighth * (X[i + 1][j][k] - 2 * X[i][j][k] + X[i - 1][j][k]) +                                                       \
   eighth * (X[i][j + 1][k] - 2 * X[i][j][k] + X[i][j - 1][k]) +                                                       \
   eighth * (X[i][j][k + 1] - 2 * X[i][j][k] + X[i][j][k - 1]) + X[i][j][k])

void heat_3d(DATA_TYPE A[RESTRICT N][N][N], DATA_TYPE B[RESTRICT N][N][N]) {
  const DATA_TYPE eighth = (DATA_TYPE)0.125;
  for (int t = 1; t <= TSTEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          B[i][j][k] = NEXT(A, i, j, k);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          A[i][j][k] = NEXT(B, i, j, k);
  }
}
