// `ac_fixed<W, I, S, Q, O>`: the fixed point of the Algorithmic C data types, which is that of ap_fixed.h here.
#ifndef ALLO_SIM_AC_FIXED_H
#define ALLO_SIM_AC_FIXED_H

#include "ac_int.h"
#include "ap_fixed.h"

using ac_q_mode = ap_q_mode;
using ac_o_mode = ap_o_mode;
constexpr ac_q_mode AC_TRN = AP_TRN, AC_TRN_ZERO = AP_TRN_ZERO, AC_RND = AP_RND, AC_RND_ZERO = AP_RND_ZERO,
                    AC_RND_INF = AP_RND_INF, AC_RND_MIN_INF = AP_RND_MIN_INF, AC_RND_CONV = AP_RND_CONV;
constexpr ac_o_mode AC_WRAP = AP_WRAP, AC_SAT = AP_SAT, AC_SAT_ZERO = AP_SAT_ZERO, AC_SAT_SYM = AP_SAT_SYM;

template <int W, int I, bool S = true, ac_q_mode Q = AC_TRN, ac_o_mode O = AC_WRAP>
using ac_fixed = allo_sim::fixed<W, I, S, Q, O, 0>;

#endif
