// absolute value, in the type of the operand
template <typename T> static inline T absolute(T value) {
#pragma HLS inline
  return value < 0 ? T(-value) : value;
}
