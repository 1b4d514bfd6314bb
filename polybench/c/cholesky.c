/* cholesky of PolyBench/C 4.2.1, looped as polybench/cholesky.py; -D gives extents, DATA_TYPE, RESTRICT. */
#include <tgmath.h>

void cholesky(DATA_TYPE A[RESTRICT N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}
