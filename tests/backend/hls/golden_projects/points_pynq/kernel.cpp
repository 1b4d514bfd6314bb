#include "kernel.h"

ap_fixed<8, 6, AP_RND, AP_SAT> points(struct_0 ps[4], ap_ufixed<6, 3> by) {  // designs.py:73
  ap_fixed<8, 6, AP_RND, AP_SAT> total = ap_fixed<8, 6, AP_RND, AP_SAT>(ap_fixed<8, 6>(0.0));  // designs.py:74
  l_S_i_0_i: for (int i = 0; i < 4; i++) {  // designs.py:75
    ps[i] = struct_0{ps[i].x + i, ps[i].weight};  // designs.py:76
    ps[i] = struct_0{ps[i].x, ap_fixed<8, 4>(ps[i].weight * by)};  // designs.py:77
    total = ap_fixed<11, 7>(ap_fixed<11, 7>(total) + ap_fixed<11, 7>(fixed_div<ap_fixed<8, 4>, 8, 10, 0>(ps[i].weight, ap_ufixed<2, 2>(3.0))));  // designs.py:78
  }
  return total;
}

static inline ap_uint<40> bits_of(const struct_0 &value) {
#pragma HLS inline
  ap_uint<40> bits = 0;
  bits.range(31, 0) = ap_uint<32>(uint32_t(value.x));
  bits.range(39, 32) = ap_uint<8>(value.weight.range(7, 0));
  return bits;
}
static inline struct_0 struct_0_of(const ap_uint<40> &bits) {
#pragma HLS inline
  struct_0 value;
  value.x = int32_t(ap_uint<32>(bits.range(31, 0)));
  value.weight = from_bits<ap_fixed<8, 4>, 8>(ap_uint<8>(bits.range(39, 32)));
  return value;
}

// burst from memory into the array on chip
static void load_ps(const uint64_t *memory, struct_0 array[4]) {
#pragma HLS inline off
  l_load_ps_i0: for (int i0 = 0; i0 < 4; i0++) {
#pragma HLS pipeline II=1
    array[i0] = struct_0_of(ap_uint<40>(memory[i0]));
  }
}

// burst from the array on chip into memory
static void store_ps(struct_0 array[4], uint64_t *memory) {
#pragma HLS inline off
  l_store_ps_i0: for (int i0 = 0; i0 < 4; i0++) {
#pragma HLS pipeline II=1
    memory[i0] = uint64_t(ap_uint<64>(bits_of(array[i0])));
  }
}

extern "C" void points_top(uint64_t *ps, uint8_t by, uint8_t *result) {
#pragma HLS interface m_axi port=ps offset=slave bundle=gmem0 depth=4
#pragma HLS interface m_axi port=result offset=slave bundle=gmem0 depth=1
#pragma HLS interface s_axilite port=ps bundle=control
#pragma HLS interface s_axilite port=by bundle=control
#pragma HLS interface s_axilite port=result bundle=control
#pragma HLS interface s_axilite port=return bundle=control
  struct_0 local_ps[4];
  load_ps(ps, local_ps);
  ap_fixed<8, 6, AP_RND, AP_SAT> local_result = points(local_ps, from_bits<ap_ufixed<6, 3>, 6>(ap_uint<6>(by)));
  store_ps(local_ps, ps);
  result[0] = uint8_t(ap_uint<8>(local_result.range(7, 0)));
}
