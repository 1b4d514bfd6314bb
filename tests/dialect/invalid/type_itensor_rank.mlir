func.func private @f(!allo.itensor<1x1xf32, [4] * [1], (d0) -> (d0)>)
// expected: 1:35: the map of an itensor gives a subscript for each dimension of a block, 2, got 1
