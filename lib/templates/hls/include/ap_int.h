// `ap_int<W>` and `ap_uint<W>`: integers of exact width, as HLS compilers for AMD devices have them.
//
// Written for the simulation of kernels on a CPU. What differs from native integers:
// - `+ - * / % & | ^` give results that hold every value; assignments and conversions cut bits on the left.
// - `/` truncates toward zero, `%` has the sign of the left operand; division by zero throws `simulation_error`.
// - shifts keep the type of the left operand; a negative amount shifts the other way.
// - a fresh number is 0; bits outside of a number throw.
// - both values of `c ? a : b` need the same type: write `c ? ap_int<9>(a) : ap_int<9>(b)`, as HLS compilers ask, too.
// Numbers up to 64 bits are one native integer, up to 128 bits two words, above that ceil(W / 64) words.
#ifndef ALLO_SIM_AP_INT_H
#define ALLO_SIM_AP_INT_H

#include "allo_sim/integer.h"
#include "allo_sim/integer_operators.h"
#include "allo_sim/integer_text.h"
#include "allo_sim/views.h"

#endif
