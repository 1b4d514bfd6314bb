// a float as an unsigned integer, toward zero: the nearest one if it does not fit, 0 for NaN; bound is 2**W
template <typename T, int W, typename M = T, typename F> static inline T to_unsigned(F value, F bound) {
#pragma HLS inline
  if (value >= bound) { return T(~T(0)); }
  return value > 0 ? T(M(value)) : T(0);
}
