// the fixed-point number with these bits
template <typename T, int W> static inline T from_bits(ap_uint<W> bits) {
#pragma HLS inline
  T value = 0;
  value.range(W - 1, 0) = bits;
  return value;
}
