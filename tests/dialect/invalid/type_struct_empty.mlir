func.func private @f(!allo.struct<{}>)
// expected: 1:34: a struct has at least one field
