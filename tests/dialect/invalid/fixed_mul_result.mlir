func.func @f(%x: !allo.fixed<8, 4>) {
  %z = "allo.fixed_mul"(%x, %x) : (!allo.fixed<8, 4>, !allo.fixed<8, 4>) -> !allo.fixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_mul' op inferred type(s) '!allo.fixed<16, 8>' are incompatible with return type(s) of operation '!allo.fixed<8, 4>'
// expected: 2:8: 'allo.fixed_mul' op failed to infer returned types
