func.func private @f(!allo.ufixed<8, 4, sat, rnd>)
// expected: 1:44: expected '>'
