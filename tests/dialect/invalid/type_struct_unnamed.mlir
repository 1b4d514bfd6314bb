func.func private @f(!allo.struct<{"": i32}>)
// expected: 1:34: a field of a struct needs a name
