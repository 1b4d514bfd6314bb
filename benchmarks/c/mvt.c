/* mvt of PolyBench/C 4.2.1, the loop nests of polybench/mvt.py; N and RESTRICT come from the command line. */
void mvt(float x1[RESTRICT N], float x2[RESTRICT N], float y1[RESTRICT N], float y2[RESTRICT N],
         float A[RESTRICT N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x1[i] = x1[i] + A[i][j] * y1[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x2[i] = x2[i] + A[j][i] * y2[j];
}
