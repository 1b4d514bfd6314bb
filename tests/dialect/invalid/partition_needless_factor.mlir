func.func private @f(memref<4xf32, #allo.partition<[complete 4]>>)
// expected: 1:51: dimension 0: 'complete' takes no number of banks, got 4
