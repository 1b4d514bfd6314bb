#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tapa.h>

void chain(tapa::mmap<int32_t> A, tapa::mmap<int32_t> C);
