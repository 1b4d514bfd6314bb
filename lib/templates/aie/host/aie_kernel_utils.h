// Pragmas of loops that kernels of MLIR-AIE name by macros; the compiler of a host needs none.
#pragma once

#define AIE_PREPARE_FOR_PIPELINING
#define AIE_PREPARE_FOR_POSTPIPELINING
#define AIE_LOOP_MIN_ITERATION_COUNT(least)
#define AIE_LOOP_MAX_ITERATION_COUNT(most)
#define AIE_LOOP_RANGE(...)
#define AIE_LOOP_UNROLL(count)
#define AIE_LOOP_UNROLL_FULL
#define AIE_LOOP_NO_UNROLL
#define AIE_LOOP_FLATTEN
#define AIE_TRY_INITIATION_INTERVAL(cycles)
