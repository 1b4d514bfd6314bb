func.func private @f(!allo.itensor<1xf32, [4] * [1], (d0)[s0] -> (d0 + s0)>)
// expected: 1:54: the map of an itensor has no symbols
