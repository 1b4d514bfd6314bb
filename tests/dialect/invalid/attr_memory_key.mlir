func.func private @f(memref<4xi32> {allo.memory = {banks = 2 : i32}})
// expected: 1:1: 'func.func' op attribute 'allo.memory' has 'resource', 'storage_type', 'latency' and 'depth', not 'banks'
