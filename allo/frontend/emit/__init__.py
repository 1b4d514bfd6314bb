"""Emission of typed syntax trees as modules of MLIR."""
