// Decides which fixed-point number a value becomes: digits beyond the last one, and numbers beyond the limits.
#ifndef ALLO_SIM_QUANTIZE_H
#define ALLO_SIM_QUANTIZE_H

#include "integer_operators.h"

/// Digits that do not fit on the right: to nearest with halves up, toward zero, down, away from zero, to even; or dropped
/// toward minus infinity (TRN) or zero.
enum ap_q_mode { AP_RND, AP_RND_ZERO, AP_RND_MIN_INF, AP_RND_INF, AP_RND_CONV, AP_TRN, AP_TRN_ZERO };

/// Numbers that do not fit: the nearest one, 0, the nearest one but never below minus the greatest, or cut bits.
enum ap_o_mode { AP_SAT, AP_SAT_ZERO, AP_SAT_SYM, AP_WRAP, AP_WRAP_SM };

namespace allo_sim {

/// `value` / 2**drop, rounded; 0 < drop < V.
template <ap_q_mode Q, int V, bool VS>
constexpr integer<V + 1, VS> rounded(const integer<V, VS> &value, int drop) {
  const integer<V, VS> below = shifted(value, -drop);
  if constexpr (Q == AP_TRN) {
    return below;
  } else {
    const bool half = value.get_bit(drop - 1);
    const integer<V, false> lowest = shifted(~integer<V, false>(0), drop - 1 - V);
    const bool more = !(integer<V, false>(value) & lowest).is_zero();
    bool up = half;
    if constexpr (Q == AP_TRN_ZERO) up = value.is_neg() && (half || more);
    if constexpr (Q == AP_RND_MIN_INF) up = half && more;
    if constexpr (Q == AP_RND_ZERO) up = half && (more || value.is_neg());
    if constexpr (Q == AP_RND_INF) up = half && (more || !value.is_neg());
    if constexpr (Q == AP_RND_CONV) up = half && (more || below.get_bit(0));
    return plus(below, integer<1, false>(up));
  }
}

template <int W, bool S>
constexpr integer<W, S> greatest() {
  const integer<W, false> ones = ~integer<W, false>(0);
  return S ? integer<W, S>(shifted(ones, -1)) : integer<W, S>(ones);
}
template <int W, bool S, ap_o_mode O>
constexpr integer<W, S> least() {
  if constexpr (!S) return 0;
  const integer<W, S> lowest = ~greatest<W, S>();
  return O == AP_SAT_SYM ? integer<W, S>(lowest + 1) : lowest;
}

/// `value` as W bits hold it.
template <int W, bool S, ap_o_mode O, int V, bool VS>
constexpr integer<W, S> limited(const integer<V, VS> &value) {
  static_assert(O != AP_WRAP_SM, "the overflow mode AP_WRAP_SM is not simulated");
  if constexpr (O != AP_WRAP) {
    if (is_less(greatest<W, S>(), value)) return O == AP_SAT_ZERO ? integer<W, S>(0) : greatest<W, S>();
    if (is_less(value, least<W, S, O>())) return O == AP_SAT_ZERO ? integer<W, S>(0) : least<W, S, O>();
  }
  return value;
}

/// The mantissa with F digits behind the point of a number that has F2 of them.
template <int W, bool S, int F, ap_q_mode Q, ap_o_mode O, int F2, int V, bool VS>
constexpr integer<W, S> quantized(const integer<V, VS> &value) {
  if constexpr (F2 <= F) {
    using Aligned = integer<V + F - F2, VS>;
    return limited<W, S, O>(shifted(Aligned(value), F - F2));
  } else {
    constexpr int drop = F2 - F;
    return limited<W, S, O>(rounded<Q>(integer<(V > drop ? V : drop + 1), VS>(value), drop));
  }
}

/// The same of a float, exactly; NaN becomes 0, an infinity 0 or the limit.
template <int W, bool S, int F, ap_q_mode Q, ap_o_mode O>
integer<W, S> quantized(double value) {
  if (__builtin_isnan(value)) return 0;
  if (__builtin_isinf(value)) {
    if (O == AP_WRAP || O == AP_SAT_ZERO) return 0;
    return value > 0 ? greatest<W, S>() : least<W, S, O>();
  }
  int exponent = 0;
  const auto mantissa = std::int64_t(__builtin_ldexp(std::frexp(value, &exponent), 53));
  if (mantissa == 0) return 0;
  const int drop = 53 - exponent - F;
  if (drop > 0) return limited<W, S, O>(rounded<Q>(integer<57, true>(mantissa), smaller(drop, 55)));
  // Beyond W + 1 places nothing of the number is left, or it is beyond the limits anyway.
  return limited<W, S, O>(shifted(integer<W + 57, true>(mantissa), smaller(-drop, W + 1)));
}

}  // namespace allo_sim

#endif
