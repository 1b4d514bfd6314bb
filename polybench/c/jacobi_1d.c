/* jacobi-1d of PolyBench/C 4.2.1, looped as polybench/jacobi_1d.py; -D gives extents, DATA_TYPE, RESTRICT. */
void jacobi_1d(DATA_TYPE A[RESTRICT N], DATA_TYPE B[RESTRICT N]) {
  const DATA_TYPE third = (DATA_TYPE)0.33333;
  for (int t = 0; t < TSTEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      B[i] = third * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < N - 1; i++)
      A[i] = third * (B[i - 1] + B[i] + B[i + 1]);
  }
}
