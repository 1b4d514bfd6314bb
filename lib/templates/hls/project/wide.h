template <int W> struct Word<ap_uint<W>> {
  static const std::size_t bytes = W / 8;
  static void get(ap_uint<W> &word, const char *place) {
    for (int low = 0; low < W; low += 64) {
      unsigned long long part = 0;
      std::memcpy(&part, place + low / 8, 8);
      word.range(low + 63, low) = ap_uint<64>(part);
    }
  }
  static void put(const ap_uint<W> &word, char *place) {
    for (int low = 0; low < W; low += 64) {
      unsigned long long part = ap_uint<64>(word.range(low + 63, low)).to_uint64();
      std::memcpy(place + low / 8, &part, 8);
    }
  }
};
