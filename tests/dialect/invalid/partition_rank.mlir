func.func private @f(memref<4x4xf32, #allo.partition<[cyclic 2]>>)
// expected: 1:22: the partition #allo.partition<[cyclic 2]> is of 1 dimensions but the memref has 2; list one entry for each dimension
