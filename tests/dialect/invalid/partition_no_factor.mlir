func.func private @f(memref<4xf32, #allo.partition<[block]>>)
// expected: 1:51: dimension 0: a block partition needs a number of banks of at least 2, got 0
