func.func @f() {
  %z = allo.fixed_constant x : !allo.ufixed<8, 4>
  return
}
// expected: 2:28: custom op 'allo.fixed_constant' expected the mantissa, an integer
