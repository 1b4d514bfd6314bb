// remainder with the sign of the right operand
template <typename T> static inline T floor_mod(T lhs, T rhs) {
#pragma HLS inline
  T remainder = T(lhs % rhs);
  return (remainder != 0 && (remainder < 0) != (rhs < 0)) ? T(remainder + rhs) : remainder;
}
