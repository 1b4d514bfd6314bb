func.func @f() {
  %z = "allo.fixed_constant"() {mantissa = 1 : i7} : () -> !allo.ufixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_constant' op mantissa must be of type i8, as wide as '!allo.ufixed<8, 4>', got 'i7'
