// quotient rounded toward plus infinity
template <typename T> static inline T ceil_div(T lhs, T rhs) {
#pragma HLS inline
  T quotient = T(lhs / rhs);
  return (T(lhs % rhs) != 0 && (lhs < 0) == (rhs < 0)) ? T(quotient + 1) : quotient;
}
