/* seidel-2d of PolyBench/C 4.2.1, looped as polybench/seidel_2d.py; -D gives extents, DATA_TYPE, RESTRICT. */
void seidel_2d(DATA_TYPE A[RESTRICT N][N]) {
  for (int t = 0; t < TSTEPS; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                  9;
}
