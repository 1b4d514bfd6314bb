func.func private @f(!allo.stream<f32, 0>)
// expected: 1:34: the depth of a stream must be at least 1, got 0
