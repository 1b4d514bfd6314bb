func.func private @f(i32 {allo.unroll = 1 : i32})
// expected: 1:1: 'func.func' op attribute 'allo.unroll' does not belong on an argument or result
