// the bits of floating-point numbers, and back
static inline uint32_t bits_of(float value) {
#pragma HLS inline
  union { float number; uint32_t bits; } both;
  both.number = value;
  return both.bits;
}
static inline float float_of(uint32_t bits) {
#pragma HLS inline
  union { float number; uint32_t bits; } both;
  both.bits = bits;
  return both.number;
}
static inline uint64_t bits_of(double value) {
#pragma HLS inline
  union { double number; uint64_t bits; } both;
  both.number = value;
  return both.bits;
}
static inline double double_of(uint64_t bits) {
#pragma HLS inline
  union { double number; uint64_t bits; } both;
  both.bits = bits;
  return both.number;
}
