func.func private @f(!allo.ufixed<8, 9>)
// expected: 1:34: a fixed-point number of 8 bits has 0 to 8 fractional bits, got 9
