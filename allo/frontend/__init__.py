"""Python kernels to MLIR: syntax tree, types, operations."""
