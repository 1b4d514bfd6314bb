#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

void gemm(float A[8][8], float B[8][8], float C[8][8]);
