func.func @f() {
  %z = allo.fixed_constant 1 : i8
  return
}
// expected: 2:28: custom op 'allo.fixed_constant' expected a fixed-point type, got 'i8'
