func.func private @f(!allo.fixed<0, 0>)
// expected: 1:33: a fixed-point number has 1 to 1024 bits, got 0
