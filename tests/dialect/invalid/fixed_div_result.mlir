func.func @f(%x: !allo.fixed<8, 4>) {
  %z = "allo.fixed_div"(%x, %x) : (!allo.fixed<8, 4>, !allo.fixed<8, 4>) -> !allo.fixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_div' op inferred type(s) '!allo.fixed<13, 4>' are incompatible with return type(s) of operation '!allo.fixed<8, 4>'
// expected: 2:8: 'allo.fixed_div' op failed to infer returned types
