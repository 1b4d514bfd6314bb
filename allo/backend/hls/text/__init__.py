"""C++ of functions: types, expressions, statements, dataflow regions."""
