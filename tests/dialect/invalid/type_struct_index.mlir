func.func private @f(!allo.struct<{a: index}>)
// expected: 1:34: field 'a' of a struct must be an integer, a float, a fixed-point number or a struct, got 'index'
