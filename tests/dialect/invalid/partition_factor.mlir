func.func private @f(memref<4xf32, #allo.partition<[cyclic 1]>>)
// expected: 1:51: dimension 0: a cyclic partition needs a number of banks of at least 2, got 1
