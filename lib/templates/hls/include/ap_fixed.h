// `ap_fixed<W, I, Q, O>` and `ap_ufixed<W, I, Q, O>`: fixed point of W bits, I of them before the point.
//
// Sums, differences and products are exact. A quotient has as many digits behind the point as its left operand, and is
// truncated toward zero. Conversions to integers truncate toward zero. Beside a float the result is a float.
#ifndef ALLO_SIM_AP_FIXED_H
#define ALLO_SIM_AP_FIXED_H

#include "allo_sim/fixed_operators.h"
#include "ap_int.h"

#endif
