func.func @f(%x: !allo.fixed<8, 4>, %y: !allo.ufixed<8, 4>) {
  %z = "allo.fixed_cmp"(%x, %y) {predicate = 2 : i32} : (!allo.fixed<8, 4>, !allo.ufixed<8, 4>) -> i1
  return
}
// expected: 2:8: 'allo.fixed_cmp' op failed to verify that both operands have one type; widen them with allo.fixed_cast
