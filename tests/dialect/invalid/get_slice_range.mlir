func.func @f(%x: i8) {
  %h = arith.constant 9 : index
  %l = arith.constant 0 : index
  %y = allo.get_slice %x[%h, %l] : i8 -> i8
  return
}
// expected: 4:8: 'allo.get_slice' op the slice [0:9] is empty or outside of 'i8'; it needs 0 <= lo < hi <= 8
