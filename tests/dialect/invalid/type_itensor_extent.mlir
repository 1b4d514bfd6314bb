func.func private @f(!allo.itensor<4x0xf32, [4] * [1], (d0) -> (d0, d0)>)
// expected: 1:35: extent 1 of an itensor must be at least 1, got 0
