func.func @f(%x: !allo.fixed<8, 4>) {
  %z = "allo.fixed_sub"(%x, %x) : (!allo.fixed<8, 4>, !allo.fixed<8, 4>) -> !allo.fixed<9, 4>
  return
}
// expected: 2:8: 'allo.fixed_sub' op failed to verify that the result has the type of the operands; convert it with allo.fixed_cast
