#include <ap_int.h>
#include <hls_stream.h>

static void helper(int scale, hls::stream<int> &from, hls::stream<int> &to, int count) {
  for (int i = 0; i < count; ++i) {
    int value;
    from >> value;
    to << scale * value;
  }
}

void twice(hls::stream<int> &in, hls::stream<int> &out, int count) { helper(2, in, out, count); }

// Takes two elements for each that it puts.
void pairs(hls::stream<ap_int<12>> &in, hls::stream<long, 4> &out) {
  while (!in.empty()) {
    ap_int<12> first = in.read();
    out.write(first * in.read());
  }
}

template <typename T> void merge(hls::stream<T> &a, hls::stream<T> &b, T *both, int count) {
  for (int i = 0; i < count; ++i) {
    both[2 * i] = a.read();
    b.read(both[2 * i + 1]);
  }
}
