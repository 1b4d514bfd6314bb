"""The only general reader, walker and builder of MLIR; upper layers import from here."""
