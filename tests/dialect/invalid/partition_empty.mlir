func.func private @f(memref<f32, #allo.partition<[]>>)
// expected: 1:40: a partition says something about each dimension, at least one
