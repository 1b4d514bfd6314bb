// the greater number; the other one if one is NaN
template <typename T> static inline T maximum_number(T lhs, T rhs) {
#pragma HLS inline
  return lhs > rhs || rhs != rhs ? lhs : rhs;
}
