func.func private @f(!allo.itensor<1xf32, [4] * [1], (d0, d1) -> (d0)>)
// expected: 1:54: the map of an itensor is over a variable for each trip count, 1, got 2
