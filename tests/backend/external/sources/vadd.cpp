#define N 32

#include <stdexcept>

extern "C" void vadd(const int A[N], const int B[N], int C[N]) {
#pragma HLS pipeline
  for (int i = 0; i < N; ++i)
    C[i] = A[i] + B[i];
}

namespace math {
static const int ROWS = N / 8;
enum { COLUMNS = 3, PAGES };
typedef float matrix[ROWS][COLUMNS];

double trace(const matrix &A, float scale) {
  double sum = 0;
  for (int i = 0; i < COLUMNS; ++i)
    sum += A[i][i];
  return scale * sum;
}
} // namespace math

template <typename T, int LENGTH = 4> void scale(T (&values)[LENGTH], T by) {
  for (T &value : values)
    value *= by;
}

template <typename T> void fill(T *values, int count, T value) {
  for (int i = 0; i < count; ++i)
    values[i] = value;
}
template void fill<short>(short *values, int count, short value);

void checked(int value, int &seen) {
  seen += 1;
  if (value < 0)
    throw std::invalid_argument("value is negative");
}
