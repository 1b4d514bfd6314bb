func.func private @f(memref<4xf32, #allo.partition<[cyclc 4]>>)
// expected: 1:53: a dimension is partitioned as none, complete, cyclic or block, got 'cyclc'
