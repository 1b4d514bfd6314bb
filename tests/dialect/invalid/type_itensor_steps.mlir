func.func private @f(!allo.itensor<1xf32, [4, 2] * [1], (d0, d1) -> (d0)>)
// expected: 1:35: an itensor has a step for each trip count, got 2 trip counts and 1 steps
