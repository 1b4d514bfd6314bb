#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ap_int.h>

extern "C" void gemm_top(const float *A, const ap_uint<128> *B, float *C);
