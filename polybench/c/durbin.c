/* durbin of PolyBench/C 4.2.1, looped as polybench/durbin.py; -D gives extents, DATA_TYPE, RESTRICT. */
void durbin(DATA_TYPE r[RESTRICT N], DATA_TYPE y[RESTRICT N]) {
  DATA_TYPE z[N];
  DATA_TYPE alpha = -r[0];
  DATA_TYPE beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < N; k++) {
    beta = (1 - alpha * alpha) * beta;
    DATA_TYPE sum = 0;
    for (int i = 0; i < k; i++)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
}
