// quotient of fixed-point numbers of type T with W bits, rounded toward minus infinity: N bits hold the dividend and
// the divisor as integers, F is the number of bits behind the point of the divisor
template <typename T, int W, int N, int F, typename L, typename R> static inline T fixed_div(L lhs, R rhs) {
#pragma HLS inline
  ap_int<N> dividend = integer_of<N>(lhs);
  ap_int<N> divisor = integer_of<N>(rhs);
  ap_int<N> quotient = floor_div<ap_int<N>>(ap_int<N>(dividend << F), divisor);
  return from_bits<T, W>(ap_uint<W>(quotient));
}
