/* gesummv of PolyBench/C 4.2.1, looped as polybench/gesummv.py; -D gives extents, DATA_TYPE, RESTRICT. */
void gesummv(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[RESTRICT N][N], DATA_TYPE B[RESTRICT N][N],
             DATA_TYPE tmp[RESTRICT N], DATA_TYPE x[RESTRICT N], DATA_TYPE y[RESTRICT N]) {
  for (int i = 0; i < N; i++) {
    tmp[i] = 0;
    y[i] = 0;
    for (int j = 0; j < N; j++) {
      tmp[i] = A[i][j] * x[j] + tmp[i];
      y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}
