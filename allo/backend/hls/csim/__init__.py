"""C simulation: the C++ compiled against our headers, and called with NumPy arrays."""
