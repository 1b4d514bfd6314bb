// Reads the bits of pairs of halves and a double, prints the bits of results.
#include <cstdio>

#include "hls_math.h"

int main() {
  unsigned left = 0;
  unsigned right = 0;
  double number = 0;
  while (std::scanf("%u %u %lf", &left, &right, &number) == 3) {
    const half a = half::from_bits(std::uint16_t(left));
    const half b = half::from_bits(std::uint16_t(right));
    half c = a;
    c += b;
    const half results[] = {a + b, a - b, a * b, a / b, hls::sqrt(a), -a, half(number), hls::fma(a, b, a), c};
    for (const half &result : results) std::printf("%u ", unsigned(result.get_bits()));
    std::printf("%d %d %d %a\n", a < b, a == b, a >= b, double(a));
  }
  return 0;
}
