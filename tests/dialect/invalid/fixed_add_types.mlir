func.func @f(%x: !allo.fixed<8, 4>, %y: !allo.fixed<9, 4>) {
  %z = "allo.fixed_add"(%x, %y) : (!allo.fixed<8, 4>, !allo.fixed<9, 4>) -> !allo.fixed<9, 4>
  return
}
// expected: 2:8: 'allo.fixed_add' op failed to verify that both operands have one type; widen them with allo.fixed_cast
