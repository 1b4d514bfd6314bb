/* adi of PolyBench/C 4.2.1, looped as polybench/adi.py; -D gives extents, DATA_TYPE, RESTRICT. */
void adi(DATA_TYPE u[RESTRICT N][N], DATA_TYPE v[RESTRICT N][N], DATA_TYPE p[RESTRICT N][N],
         DATA_TYPE q[RESTRICT N][N]) {
  DATA_TYPE DX = (DATA_TYPE)1 / N, DY = (DATA_TYPE)1 / N, DT = (DATA_TYPE)1 / TSTEPS;
  DATA_TYPE mul1 = 2 * DT / (DX * DX), mul2 = 1 * DT / (DY * DY);
  DATA_TYPE a = -mul1 / 2, b = 1 + mul1, c = a, d = -mul2 / 2, e = 1 + mul2, f = d;
  for (int t = 1; t <= TSTEPS; t++) {
    for (int i = 1; i < N - 1; i++) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < N - 1; j++) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                  (a * p[i][j - 1] + b);
      }
      v[N - 1][i] = 1;
      for (int j = N - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < N - 1; i++) {
      u[i][0] = 1;
      p[i][0] = 0;
      q[i][0] = u[i][0];
      for (int j = 1; j < N - 1; j++) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                  (d * p[i][j - 1] + e);
      }
      u[i][N - 1] = 1;
      for (int j = N - 2; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
}
