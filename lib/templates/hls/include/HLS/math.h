// The functions of mathematics are those of the standard library.
#ifndef ALLO_SIM_HLS_MATH_H
#define ALLO_SIM_HLS_MATH_H

#include <cmath>

#endif
