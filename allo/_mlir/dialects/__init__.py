"""Python bindings of the dialect's operations, types and attributes."""
