func.func private @f(!allo.itensor<1xf32, [9223372036854775807] * [3], (d0) -> (d0)>)
// expected: 1:35: the subscripts of an itensor in dimension 0 are out of range
