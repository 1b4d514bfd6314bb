func.func @f() {
  %z = allo.fixed_constant 128 : !allo.fixed<8, 4>
  return
}
// expected: 2:28: custom op 'allo.fixed_constant' the mantissa does not fit in '!allo.fixed<8, 4>'
