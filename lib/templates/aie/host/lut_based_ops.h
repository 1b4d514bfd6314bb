// Functions that cores look up in tables, for the compiler of a host: exact values, rounded.
#pragma once

#include <aie_api/aie.hpp>

inline v16accfloat getExpBf16(const v16bfloat16 &x) {
  v16accfloat made;
  for (unsigned k = 0; k < 16; ++k)
    made.lanes[k] = std::exp(float(x.lanes[k]));
  return made;
}
inline v16bfloat16 getTanhBf16(const v16bfloat16 &x) { return aie::tanh<bfloat16>(x); }
inline bfloat16 getInvBf16(float x) { return bfloat16(1.0f / x); }
