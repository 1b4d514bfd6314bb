func.func private @f(!allo.stream<tensor<?xf32>, 2>)
// expected: 1:34: the element of a stream must be a scalar, a struct, or a tensor or vector of static shape, got 'tensor<?xf32>'
