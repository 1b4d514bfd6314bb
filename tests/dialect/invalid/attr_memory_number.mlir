func.func private @f(memref<4xi32> {allo.memory = {depth = 0 : i32}})
// expected: 1:1: 'func.func' op 'depth' of 'allo.memory' must be an i32 of at least 1, got 0 : i32
