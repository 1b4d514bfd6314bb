// What every part of a simulation includes first; it is precompiled.
#pragma once
extern "C" int allo_sim_print(const char *format, ...);
#include "verilated.h"
#include "verilated_dpi.h"
#include "verilated_syms.h"
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>
