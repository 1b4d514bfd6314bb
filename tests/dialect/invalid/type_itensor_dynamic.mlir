func.func private @f(!allo.itensor<?xf32, [4] * [1], (d0) -> (d0)>)
// expected: 1:36: expected static shape
