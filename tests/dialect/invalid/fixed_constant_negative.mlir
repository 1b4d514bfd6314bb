func.func @f() {
  %z = allo.fixed_constant -1 : !allo.ufixed<8, 4>
  return
}
// expected: 2:28: custom op 'allo.fixed_constant' the mantissa does not fit in '!allo.ufixed<8, 4>'
