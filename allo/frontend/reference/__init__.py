"""The meaning of kernels: an evaluator of typed trees in exact numbers, independent of MLIR and of machine code."""
