/* covariance of PolyBench/C 4.2.1, looped as polybench/covariance.py; -D gives extents, DATA_TYPE, RESTRICT. */
void covariance(DATA_TYPE float_n, DATA_TYPE data[RESTRICT N][M], DATA_TYPE cov[RESTRICT M][M],
                DATA_TYPE mean[RESTRICT M]) {
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < N; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= float_n - 1;
      cov[j][i] = cov[i][j];
    }
}
