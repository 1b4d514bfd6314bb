// the bits of a fixed-point number as an integer of its sign
template <int N, int W, int I, ap_q_mode Q, ap_o_mode O>
static inline ap_int<N> integer_of(const ap_fixed<W, I, Q, O> &value) {
#pragma HLS inline
  return ap_int<N>(ap_int<W>(value.range(W - 1, 0)));
}
template <int N, int W, int I, ap_q_mode Q, ap_o_mode O>
static inline ap_int<N> integer_of(const ap_ufixed<W, I, Q, O> &value) {
#pragma HLS inline
  return ap_int<N>(ap_uint<W>(value.range(W - 1, 0)));
}
