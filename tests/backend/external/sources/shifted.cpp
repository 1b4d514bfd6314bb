// Another function `vadd`, and one that is in a file of its own.
void vadd(const int A[32], const int B[32], int C[32]);
int offset();

static int one = 1;

void vadd(const int A[32], const int B[32], int C[32]) {
  for (int i = 0; i < 32; ++i)
    C[i] = A[i] + B[i] + offset() * one;
}
