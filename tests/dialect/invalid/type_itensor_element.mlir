func.func private @f(!allo.itensor<4xtensor<4xf32>, [4] * [1], (d0) -> (d0)>)
// expected: 1:35: the elements of an itensor are scalars or structs, got 'tensor<4xf32>'
