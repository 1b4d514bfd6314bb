func.func private @f(!allo.itensor<1xf32, [4] * [-1], (d0) -> (d0)>)
// expected: 1:35: step 0 of an itensor must be at least 1, got -1
