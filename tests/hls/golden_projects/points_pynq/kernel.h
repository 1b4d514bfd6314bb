#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ap_int.h>
#include <ap_fixed.h>

struct struct_0 {
  int32_t x;
  ap_fixed<8, 4> weight;
};

extern "C" void points_top(uint64_t *ps, uint8_t by, uint8_t *result);
