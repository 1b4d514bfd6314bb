// Kernels as users write them: they compile without a warning, and run.
#include <cstdio>
#include <cstring>

#include "ap_axi_sdata.h"
#include "ap_fixed.h"
#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "tapa.h"

typedef ap_fixed<16, 6, AP_RND, AP_SAT> data_t;
typedef hls::vector<float, 4> lanes_t;
typedef ap_axiu<32, 1, 1, 1> packet_t;

struct pixel {
  ap_uint<8> r, g, b;
};

extern "C" void gemm(const ap_int<8> A[4][4], const ap_int<8> B[4][4], ap_int<18> C[4][4]) {
#pragma HLS interface m_axi port = A offset = slave bundle = gmem0
#pragma HLS array_partition variable = B dim = 2 complete
rows:
  for (ap_uint<3> i = 0; i < 4; ++i) {
  columns:
    for (int j = 0; j < 4; j++) {
#pragma HLS pipeline II = 1
      ap_int<18> sum = 0;
      for (int k = 0; k < 4; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
  }
}

void fir(hls::stream<data_t> &in, hls::stream<data_t> &out, int n) {
  static data_t taps[3] = {0, 0, 0};
  const data_t weights[3] = {0.25, 0.5, 0.25};
  for (int i = 0; i < n; i++) {
    taps[2] = taps[1];
    taps[1] = taps[0];
    taps[0] = in.read();
    data_t sum = 0;
    for (int t = 0; t < 3; t++) sum += taps[t] * weights[t];
    out.write(sum);
  }
}

void pass(hls::stream<packet_t> &in, hls::stream<packet_t> &out) {
  packet_t packet;
  do {
    in >> packet;
    packet.data(15, 0) = packet.data.range(31, 16);
    out << packet;
  } while (!packet.last);
}

ap_uint<24> packed(const pixel &p) { return (p.r, p.g, p.b); }

unsigned classify(ap_uint<2> kind, ap_int<5> value) {
  switch (kind) {
    case 0: return value > 0 ? value.to_uint() : 0u;
    case 1: return unsigned(value * value);
    default: return unsigned(hls::abs(value));
  }
}

void produce(tapa::ostream<ap_uint<512>> out) {
  for (int i = 0; i < 3; ++i) {
    ap_uint<512> word = 0;
    for (int lane = 0; lane < 16; ++lane) word.range(32 * lane + 31, 32 * lane) = i + lane;
    out.write(word);
  }
}
void consume(tapa::istream<ap_uint<512>> in, tapa::mmap<int> total) {
  for (int i = 0; i < 3; ++i) {
    const ap_uint<512> word = in.read();
    for (int lane = 0; lane < 16; ++lane) total[0] += word.range(32 * lane + 31, 32 * lane).to_int();
  }
}
void packed_sum(tapa::mmap<int> total) {
  tapa::stream<ap_uint<512>, 2> words("words");
  tapa::task().invoke(produce, words).invoke(consume, words, total);
}

float bits_of_float(ap_uint<32> bits) {
  const unsigned word = bits;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

int main() {
  ap_int<8> A[4][4], B[4][4];
  ap_int<18> C[4][4];
  for (int i = 0; i < 16; ++i) {
    A[i / 4][i % 4] = 100 + i;
    B[i / 4][i % 4] = i * (i % 2 ? 8 : -8);
  }
  gemm(A, B, C);
  hls::stream<data_t, 4> in("in"), out("out");
  for (int i = 0; i < 4; ++i) in << data_t(i * 1.5);
  fir(in, out, 4);
  float last = 0;
  while (!out.empty()) last = out.read().to_float();
  hls::stream<packet_t> from, to;
  packet_t packet;
  packet.keep_all();
  packet.data = 0x12345678;
  packet.last = 1;
  from.write(packet);
  pass(from, to);
  lanes_t lanes = {1, 2, 3, 4};
  lanes = lanes * lanes + 0.5f;
  int total = 0;
  packed_sum(&total);
  std::printf("%d %g %x %x %u %g %d %g\n", C[3][1].to_int(), last, to.read().data.to_uint(),
              packed({1, 2, 3}).to_uint(), classify(1, -3), double(lanes.reduce_add()), total,
              bits_of_float(0x40490fdb));
  return 0;
}
