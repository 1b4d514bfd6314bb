func.func private @f(!allo.itensor<1xf32, [4] * [1], (d0) -> (d0 mod 2)>)
// expected: 1:54: subscript 0 of an itensor is no sum of its variables, with factors, and a number
