// the bits of element n of an array whose elements take B bits each
template <int W, int B> static ap_uint<W> load_bits(const void *memory, std::size_t n) {
  const char *place = static_cast<const char *>(memory) + n * (B / 8);
  ap_uint<B> whole = 0;
  for (int low = 0; low < B; low += 64) {
    uint64_t word = 0;
    std::memcpy(&word, place + low / 8, B < 64 ? B / 8 : 8);
    whole.range(low + (B < 64 ? B : 64) - 1, low) = ap_uint<64>(word);
  }
  return ap_uint<W>(whole);
}
template <int W, int B, bool S> static void store_bits(void *memory, std::size_t n, const ap_uint<W> &bits) {
  char *place = static_cast<char *>(memory) + n * (B / 8);
  ap_uint<B> whole = bits;
  if (S) { whole = ap_uint<B>(ap_int<B>(ap_int<W>(bits))); }
  for (int low = 0; low < B; low += 64) {
    uint64_t word = ap_uint<64>(whole.range(low + (B < 64 ? B : 64) - 1, low)).to_uint64();
    std::memcpy(place + low / 8, &word, B < 64 ? B / 8 : 8);
  }
}
