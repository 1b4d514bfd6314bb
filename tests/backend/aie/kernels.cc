#include <stdint.h>

extern "C" {
void scale_add(int32_t *a, int32_t *b, int32_t *c) {
  for (int i = 0; i < 64; ++i)
    c[i] = 3 * a[i] + b[i];
}

void negate(const int32_t *a, int32_t *b) {
  for (int i = 0; i < 64; ++i)
    b[i] = -a[i];
}
}

template <int N> void twice(int32_t a[N]) {
  for (int i = 0; i < N; ++i)
    a[i] *= 2;
}
