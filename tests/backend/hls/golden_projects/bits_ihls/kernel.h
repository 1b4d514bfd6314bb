#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <HLS/hls.h>
#include <HLS/ac_int.h>

component void bits(ac_int<5, false> a, int8_t w, int32_t n, ac_int<7, false> &result0, int32_t &result1);
