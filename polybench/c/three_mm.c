/* 3mm of PolyBench/C 4.2.1, looped as polybench/three_mm.py; -D gives extents, DATA_TYPE, RESTRICT. */
void three_mm(DATA_TYPE E[RESTRICT NI][NJ], DATA_TYPE A[RESTRICT NI][NK], DATA_TYPE B[RESTRICT NK][NJ],
              DATA_TYPE F[RESTRICT NJ][NL], DATA_TYPE C[RESTRICT NJ][NM], DATA_TYPE D[RESTRICT NM][NL],
              DATA_TYPE G[RESTRICT NI][NL]) {
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      E[i][j] = 0;
      for (int k = 0; k < NK; k++)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < NJ; i++)
    for (int j = 0; j < NL; j++) {
      F[i][j] = 0;
      for (int k = 0; k < NM; k++)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NL; j++) {
      G[i][j] = 0;
      for (int k = 0; k < NJ; k++)
        G[i][j] += E[i][k] * F[k][j];
    }
}
