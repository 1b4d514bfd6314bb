"""C++ for tools of other vendors than AMD."""
