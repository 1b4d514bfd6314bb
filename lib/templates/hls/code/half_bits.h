// the bits of half, and back
static inline uint16_t bits_of(half value) {
#pragma HLS inline
  uint16_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline half half_of(uint16_t bits) {
#pragma HLS inline
  half value;
  std::memcpy(static_cast<void *>(&value), &bits, sizeof bits);
  return value;
}
