/* 2mm of PolyBench/C 4.2.1, looped as polybench/two_mm.py; -D gives extents, DATA_TYPE, RESTRICT. */
void two_mm(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE tmp[RESTRICT NI][NJ], DATA_TYPE A[RESTRICT NI][NK],
            DATA_TYPE B[RESTRICT NK][NJ], DATA_TYPE C[RESTRICT NJ][NL], DATA_TYPE D[RESTRICT NI][NL]) {
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < NK; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NL; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < NJ; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
