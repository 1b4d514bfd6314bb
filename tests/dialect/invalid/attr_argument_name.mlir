func.func private @f(i32 {allo.name = 3 : i32})
// expected: 1:1: 'func.func' op attribute 'allo.name' must be a string, got 3 : i32
