// the bits of a fixed-point number as an integer of its sign
template <int N, int W, int I, bool S, ac_q_mode Q, ac_o_mode O>
static inline ap_int<N> integer_of(const ac_fixed<W, I, S, Q, O> &value) {
  return ap_int<N>(ac_int<W, S>(value.template slc<W>(0)));
}
