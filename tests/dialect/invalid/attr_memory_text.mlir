func.func private @f(memref<4xi32> {allo.memory = {resource = 1 : i32}})
// expected: 1:1: 'func.func' op 'resource' of 'allo.memory' must be a string, got 1 : i32
