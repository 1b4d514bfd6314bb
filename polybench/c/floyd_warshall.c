/* floyd-warshall of PolyBench/C 4.2.1, looped as polybench/floyd_warshall.py; -D gives extents, DATA_TYPE, RESTRICT. */
void floyd_warshall(DATA_TYPE path[RESTRICT N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
