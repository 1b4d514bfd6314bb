// the greater number, 0.0 before -0.0; NaN if one is NaN
template <typename T> static inline T maximum(T lhs, T rhs) {
#pragma HLS inline
  if (lhs != lhs || rhs != rhs) { return lhs + rhs; }
  return lhs > rhs || (lhs == rhs && !std::signbit(float(lhs))) ? lhs : rhs;
}
