/* fdtd-2d of PolyBench/C 4.2.1, looped as polybench/fdtd_2d.py; -D gives extents, DATA_TYPE, RESTRICT. */
void fdtd_2d(DATA_TYPE ex[RESTRICT NX][NY], DATA_TYPE ey[RESTRICT NX][NY], DATA_TYPE hz[RESTRICT NX][NY],
             DATA_TYPE fict[RESTRICT TMAX]) {
  const DATA_TYPE half = (DATA_TYPE)0.5, seven_tenths = (DATA_TYPE)0.7;
  for (int t = 0; t < TMAX; t++) {
    for (int j = 0; j < NY; j++)
      ey[0][j] = fict[t];
    for (int i = 1; i < NX; i++)
      for (int j = 0; j < NY; j++)
        ey[i][j] = ey[i][j] - half * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < NX; i++)
      for (int j = 1; j < NY; j++)
        ex[i][j] = ex[i][j] - half * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < NX - 1; i++)
      for (int j = 0; j < NY - 1; j++)
        hz[i][j] = hz[i][j] - seven_tenths * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}
