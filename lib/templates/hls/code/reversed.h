// the bits in the opposite order
template <int W> static inline ap_uint<W> reversed(ap_uint<W> value) {
#pragma HLS inline
  ap_uint<W> result = 0;
  for (int bit = 0; bit < W; bit++) {
#pragma HLS unroll
    result[W - 1 - bit] = bool(value[bit]);
  }
  return result;
}
