// What a kernel must not do throws, with a sentence.
#include <cstdio>
#include <exception>

#include "ap_fixed.h"
#include "hls_stream.h"
#include "hls_vector.h"

template <class Function>
void attempt(Function function) {
  try {
    function();
    std::puts("nothing was thrown");
  } catch (const allo_sim::simulation_error &error) {
    std::puts(error.what());
  }
}

int main() {
  hls::stream<int, 2> named("weights");
  hls::stream<int> unnamed;
  int value = 0;
  named.write(4);
  attempt([&] { value = named.read() + named.read(); });
  attempt([&] { unnamed >> value; });
  attempt([&] { value = ap_int<8>(3) / ap_int<4>(value * 0); });
  attempt([&] { value = ap_uint<200>(3) % ap_uint<190>(value * 0); });
  attempt([&] { value = ap_uint<8>(3)[value * 0 + 8]; });
  attempt([&] { value = ap_uint<8>(3).range(9, value * 0); });
  attempt([&] { value = ap_int<8>("12a"); });
  attempt([&] { value = ap_int<8>("0xfg", 16); });
  attempt([&] { value = hls::vector<int, 2>()[value * 0 + 2]; });
  attempt([&] { value = hls::vector<int, 2>{1, 2, 3}[0]; });
  for (int i = 0; i < 3; ++i) {
    const bool full = named.full();
    std::printf("%d%d ", full, named.write_nb(i));
  }
  std::printf("%d\n", named.read_nb(value));
  return 0;
}
