// `ac_int<W, S>`: the integers of exact width of the Algorithmic C data types, which are those of ap_int.h here.
#ifndef ALLO_SIM_AC_INT_H
#define ALLO_SIM_AC_INT_H

#include "ap_int.h"

template <int W, bool S = true>
using ac_int = allo_sim::integer<W, S>;

namespace ac {

/// The number whose bits are given by hexadecimal digits.
template <class T>
T bit_fill_hex(const char *digits) {
  return T(digits, 16);
}

}  // namespace ac

#endif
