// the bits of element n of an array whose elements take B bits each
template <int W, int B> static ac_int<W, false> load_bits(const void *memory, std::size_t n) {
  const int S = B < 64 ? B : 64;
  const char *place = static_cast<const char *>(memory) + n * (B / 8);
  ac_int<B, false> whole = 0;
  for (int low = 0; low < B; low += 64) {
    uint64_t word = 0;
    std::memcpy(&word, place + low / 8, S / 8);
    whole.set_slc(low, ac_int<S, false>(word));
  }
  return ac_int<W, false>(whole);
}
template <int W, int B, bool S> static void store_bits(void *memory, std::size_t n, const ac_int<W, false> &bits) {
  const int R = B < 64 ? B : 64;
  char *place = static_cast<char *>(memory) + n * (B / 8);
  ac_int<B, false> whole = bits;
  if (S) { whole = ac_int<B, false>(ac_int<B, true>(ac_int<W, true>(bits))); }
  for (int low = 0; low < B; low += 64) {
    uint64_t word = ac_int<R, false>(whole.template slc<R>(low)).to_uint64();
    std::memcpy(place + low / 8, &word, R / 8);
  }
}
