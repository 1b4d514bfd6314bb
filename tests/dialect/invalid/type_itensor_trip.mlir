func.func private @f(!allo.itensor<1xf32, [4, 0] * [1, 1], (d0, d1) -> (d0)>)
// expected: 1:35: trip count 1 of an itensor must be at least 1, got 0
