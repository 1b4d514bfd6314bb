// a float as a signed integer of W bits, toward zero: the nearest one if it does not fit, 0 for NaN; bound is 2**(W - 1)
template <typename T, int W, typename M = T, typename F> static inline T to_signed(F value, F bound) {
#pragma HLS inline
  const T least = T(T(1) << (W - 1));
  if (value >= bound) { return T(~least); }
  if (value > -bound) { return T(M(value)); }
  return value <= -bound ? least : T(0);
}
