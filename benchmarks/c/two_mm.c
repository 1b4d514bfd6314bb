/* 2mm of PolyBench/C 4.2.1, the loop nests of polybench/two_mm.py; the extents and RESTRICT come from the command line. */
void two_mm(float alpha, float beta, float tmp[RESTRICT NI][NJ], float A[RESTRICT NI][NK], float B[RESTRICT NK][NJ],
            float C[RESTRICT NJ][NL], float D[RESTRICT NI][NL]) {
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      tmp[i][j] = 0.0f;
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
