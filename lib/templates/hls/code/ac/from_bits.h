// the fixed-point number with these bits
template <typename T, int W> static inline T from_bits(ap_uint<W> bits) {
  T value = 0;
  value.set_slc(0, bits);
  return value;
}
