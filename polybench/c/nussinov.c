/* nussinov of PolyBench/C 4.2.1, looped as polybench/nussinov.py; -D gives extents, DATA_TYPE, RESTRICT. */
#define MAX(a, b) ((a) >= (b) ? (a) : (b))

void nussinov(signed char seq[RESTRICT N], DATA_TYPE table[RESTRICT N][N]) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      table[i][j] = MAX(table[i][j], table[i][j - 1]);
      table[i][j] = MAX(table[i][j], table[i + 1][j]);
      if (i < j - 1)
        table[i][j] = MAX(table[i][j], table[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0));
      else
        table[i][j] = MAX(table[i][j], table[i + 1][j - 1]);
      for (int k = i + 1; k < j; k++)
        table[i][j] = MAX(table[i][j], table[i][k] + table[k + 1][j]);
    }
}
