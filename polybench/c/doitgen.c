/* doitgen of PolyBench/C 4.2.1, looped as polybench/doitgen.py; -D gives extents, DATA_TYPE, RESTRICT. */
void doitgen(DATA_TYPE A[RESTRICT NR][NQ][NP], DATA_TYPE C4[RESTRICT NP][NP], DATA_TYPE sum[RESTRICT NP]) {
  for (int r = 0; r < NR; r++)
    for (int q = 0; q < NQ; q++) {
      for (int p = 0; p < NP; p++) {
        sum[p] = 0;
        for (int s = 0; s < NP; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < NP; p++)
        A[r][q][p] = sum[p];
    }
}
